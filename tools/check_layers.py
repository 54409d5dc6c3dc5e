#!/usr/bin/env python3
"""Checks every #include of the tree against the layers of the architecture, and that no two headers define a type of
one name: where a file sees one and another file the other, the linker mixes their functions without a word.
Prints each breach, exits 1 on any.

usage: tools/check_layers.py [TREE]
"""
import pathlib
import re
import sys

# folder -> folders of lib/ it may include besides itself. `base` and causeway/error.hpp are open to all.
LAYERS = {
    "base": set(),
    "kernels": set(),
    "config": set(),
    "tensor": set(),
    "graph": {"tensor"},
    "plan": {"tensor", "kernels"},
    "ops": {"graph", "plan", "kernels", "tensor"},
    "model": {"config", "ops", "graph", "tensor"},
    "compile": {"config", "model", "ops", "graph", "plan", "tensor", "kernels"},
    "exec": {"plan", "kernels", "tensor"},
    "io": {"tensor", "config"},
    "data": {"io", "config"},
}
USERS = {"compile", "exec", "io", "data", "config", "plan", "tensor"}
for user in ("train", "infer", "inspect"):
    LAYERS[user] = set(USERS)
LAYERS["api"] = {"train", "infer", "inspect"} | USERS
LAYERS["tools"] = {"api", "train", "infer", "inspect", "config", "plan", "io"}

# A header of these belongs to one folder (and to the tests and benchmarks, which see everything).
OWNED_LIBRARIES = {
    r"(oneapi/)?tbb/.*": {"exec"},
    r"xsimd/.*": {"kernels"},
    r"CLI/.*": {"tools"},
    r"iostream": {"tools"},
}
# Translation units that are compiled once per instruction set hold no code that another one could share.
NOT_IN_SIMD = re.compile(
    r"vector|string|string_view|map|set|unordered_map|unordered_set|deque|list|array|span|memory|functional|"
    r"optional|variant|sstream|iostream|format|algorithm|numeric|fmt/.*|nlohmann/.*"
)
NAMESPACE = re.compile(r"^namespace ([\w:]+) \{")
TYPE = re.compile(r"^(?:struct|class|union|enum class|enum) (\w+)(?: final)?(?: :[^:].*)? \{")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def includes(path):
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1) == '"', match.group(2)


def sources(folder):
    return sorted(p for p in folder.rglob("*") if p.suffix in (".hpp", ".cpp", ".h", ".inc"))


def trails_to_shared_code(name, quoted, lib, seen):
    """Yields "a.hpp -> <vector>" for each standard header of NOT_IN_SIMD that including `name` brings along."""
    if not quoted:
        if NOT_IN_SIMD.fullmatch(name):
            yield f"<{name}>"
    elif name not in seen and (lib / name).is_file():
        seen.add(name)
        for _, inner_quoted, inner in includes(lib / name):
            for trail in trails_to_shared_code(inner, inner_quoted, lib, seen):
                yield f"{name} -> {trail}"


def check_file(path, folder, tree):
    """Yields (line, message) for each include of one file of lib/ or tools/ that its layer does not allow."""
    allowed = LAYERS[folder] | {folder, "base"}
    simd = path.name.endswith(".simd.cpp")
    for number, quoted, name in includes(path):
        first = name.split("/")[0]
        if quoted and first == "causeway":
            if not (tree / "include" / name).is_file():
                yield number, f"{name} does not exist in include/"
            elif name != "causeway/error.hpp" and folder not in ("api", "tools"):
                yield number, f"{folder} may not include the public API ({name})"
        elif quoted and first in LAYERS and "/" in name:
            if first not in allowed:
                yield number, f"{folder} may not include {first} ({name}); it may: {', '.join(sorted(allowed))}"
        elif quoted and not (path.parent / name).is_file():
            yield number, f'"{name}" is neither "folder/file.hpp" of lib/ nor "causeway/file.hpp"'
        for pattern, owners in OWNED_LIBRARIES.items():
            if not quoted and re.fullmatch(pattern, name) and folder not in owners:
                yield number, f"only {', '.join(sorted(owners))} may include <{name}>"
        if simd:
            for trail in trails_to_shared_code(name, quoted, tree / "lib", set()):
                yield number, f"brings {trail} into a file compiled once per instruction set"


def check_outside(path):
    """Yields (line, message) for each include of the consumer or of a public header that is not public."""
    for number, _, name in includes(path):
        if name.split("/")[0] in LAYERS and "/" in name:
            yield number, f"{name} is not public: only <causeway/...> may be included here"


def check_types(tree):
    """Yields a message for each type at namespace scope that two headers of lib/ and include/ define."""
    defined = {}
    for path in (p for folder in ("lib", "include") for p in sources(tree / folder) if p.suffix == ".hpp"):
        space = ""
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if match := NAMESPACE.match(line):
                space = match.group(1)
            if match := TYPE.match(line):
                place = f"{path.relative_to(tree)}:{number}"
                other = defined.setdefault((space, match.group(1)), place)
                if other != place:
                    yield f"{place}: {space}::{match.group(1)} is defined in {other} too"


def main():
    tree = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent).resolve()
    checked, breaches = 0, []
    for folder in sorted((tree / "lib").iterdir()):
        if folder.is_dir() and folder.name not in LAYERS and sources(folder):
            breaches.append(f"lib/{folder.name}: not in the layer table")
    for folder in LAYERS:
        for path in sources(tree / "tools" if folder == "tools" else tree / "lib" / folder):
            checked += 1
            breaches += [f"{path.relative_to(tree)}:{n}: {text}" for n, text in check_file(path, folder, tree)]
    for folder in ("include", "tests/consumer", "examples"):
        for path in sources(tree / folder):
            checked += 1
            breaches += [f"{path.relative_to(tree)}:{n}: {text}" for n, text in check_outside(path)]
    breaches += check_types(tree)
    for breach in breaches:
        print(breach)
    print(f"layers: {checked} files, {len(breaches)} breaches")
    return 1 if breaches or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
