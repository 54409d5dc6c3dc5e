#!/usr/bin/env python3
"""Makes the tokenizers and ids under tests/golden/tokenizers with HuggingFace's `tokenizers` (made with 0.23).

usage: tools/golden_tokenizers.py TEXT_FILE [OUT_DIR]

TEXT_FILE is what they are trained on: build/data/kjv.txt, of which 200 kB are taken (tools/get_kjv.sh). OUT_DIR is
tests/golden/tokenizers unless given. Writes one <name>.json a tokenizer and strings.json: the strings, and for each
tokenizer their ids and what the ids decode to.
"""
import copy
import json
import pathlib
import sys

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

ROOT = pathlib.Path(__file__).resolve().parent.parent
VOCAB_SIZE = 700
QWEN = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
        r"|\s+(?!\S)|\s+")
LLAMA3 = QWEN.replace(r"|\p{N}|", r"|\p{N}{1,3}|")
# No pattern that Causeway knows by name: what GPT-4o's looks like.
OTHER = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
         r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
         r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
ELSEWHERE = """Ein Überraschungsei für Jürgen, größer als erwähnt. L'été où naît l'œuvre déjà vu.
Съешь же ещё этих мягких французских булок. Ξεσκεπάζω τὴν ψυχοφθόρα βδελυγμία.
我能吞下玻璃而不伤身体。今天天气很好，我们去公园散步吧。 いろはにほへと ちりぬるを 안녕하세요 세계
शुभ प्रभात مرحبا بالعالم שלום עולם สวัสดีชาวโลก 🙂🎉👩‍👩‍👧 naïve café
for (int i = 0; i < n; ++i) { sum += x[i] * y[i]; }\n\tif x == 3.14159:\n        return "done"\n
"""

STRINGS = [
    "", " ", "  ", "a", "Hello, world!", "In the beginning God created the heaven and the earth.",
    "I'll say it's what they've done; we're here, he'd go, I'm 'twas DON'T I'LL IT'S", "'", "''s", "'S 'ſ 'Re 'LL",
    "1234567890 12 345 6,789.01 x1y22z333 ١٢٣ Ⅷ ½ ²", "a  b   c    d\t\te\n\nf\r\ng\r\n\r\nh \n i\n  j", "\n", "\r\n",
    "\n\n\n", " \n", "\n ", "   \t  ", "trailing   ", "   leading", "line.\nnext!\n\nmore?\r\n...\n\n", "x\u00a0y\u3000z\u2003w",
    "a\u180eb\u0085c\u200bd\ufeffe", "e\u0301 é o\u0308 ö A\u030a Å ﬁ ﬀ ① Ａ", "a\u0315\u0300\u05ae\u0062", "한국어 각 ㅎㅏㄴ",
    "日本語のテキスト、句読点。「引用」", "中文没有空格的长句子需要被切分成许多词语。你好，世界！", "🙂 👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽 🇩🇪",
    "Zalgo: Z̷̢̛a̵͝l̸g̴o̶", "नमस्ते दुनिया", "مرحبا بالعالم", "שָׁלוֹם", "สวัสดี", "Ǆ ǅ ǆ İ ı ẞ ß Σ ς σ", "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𝒯𝑒𝓍𝓉 \U0010ffff",
    "<|endoftext|>", "a<|endoftext|>b", " <|endoftext|> ", "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n",
    "<|endoftext|><|endoftext|>", "<|endoftext", "<|endoftext|", "<<|endoftext|>>", "|endoftext|>", "<tool_call>{\"a\": 1}</tool_call>",
    "word WORD Word wordword a word. _word_ word1 (word)", "x  <mask>  y<mask>z <mask>", "le\ufb01t LE\ufb01T lefit", "<s>a</s> <unk>",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "=" * 200, "ab" * 100, " " * 100 + "x", "\n" * 70, "#" * 3 + " " + "-" * 60, "the" * 40, "0" * 40,
    "https://example.org/a/b?c=d&e=%20#f user@host.tld C:\\Users\\x $HOME ~/.bashrc", "def f(x):\n    return x**2  # squared\n",
    "{\"key\": [1, 2.5e-3, null, true], \"nested\": {\"a\": \"b\\n\"}}", "\x00\x01\x1b[31mred\x7f", "a_b-c+d=e*f/g%h^i&j|k~l`m@n",
    "CamelCaseWord snake_case_word SCREAMING_CASE kebab-case", "“curly” ‘quotes’ — dash… ‹›«»", "\u2028sep\u2029par", "end",
]


def special(content, **more):
    return AddedToken(content, special=True, normalized=False, **more)


def trained(text, normalizer, pre_tokenizer, specials):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=VOCAB_SIZE, special_tokens=specials, show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator(text.split("\n"), trainer)
    return tokenizer


def split_then_bytes(pattern):
    return pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(pattern), "isolated"),
                                    pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def make_tokenizers(text):
    gpt2 = trained(text, None, pre_tokenizers.ByteLevel(add_prefix_space=False), [])
    gpt2.add_special_tokens([special("<|endoftext|>")])
    gpt2.post_processor = processors.ByteLevel(trim_offsets=False)

    qwen = trained(text, normalizers.NFC(), split_then_bytes(QWEN), [])
    qwen.add_tokens([special(t) for t in ("<|endoftext|>", "<|im_start|>", "<|im_end|>")] +
                    [AddedToken(t, normalized=False) for t in ("<tool_call>", "</tool_call>")])

    minimind = trained(text, None, pre_tokenizers.ByteLevel(add_prefix_space=False),
                       ["<|endoftext|>", "<|im_start|>", "<|im_end|>"])

    llama3 = trained(text, None, split_then_bytes(LLAMA3), [])
    llama3.add_special_tokens([special("<|begin_of_text|>"), special("<|endoftext|>")])
    llama3.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=False),
        processors.TemplateProcessing(single="<|begin_of_text|> $A", special_tokens=[("<|begin_of_text|>", VOCAB_SIZE)])])
    values = json.loads(llama3.to_str())
    values["model"]["ignore_merges"] = True
    # the last token becomes a word that no merges make
    vocab = values["model"]["vocab"]
    last = max((t for t in vocab if vocab[t] < VOCAB_SIZE), key=vocab.get)
    values["model"]["merges"] = [m for m in values["model"]["merges"] if "".join(m) != last]
    vocab["Ġassistant"] = vocab.pop(last)
    llama3 = Tokenizer.from_str(json.dumps(values))
    return {"gpt2": gpt2, "qwen": qwen, "minimind": minimind, "llama3": llama3, **make_odd(gpt2)}


def make_odd(gpt2):
    """The rarer options, on GPT-2's vocabulary."""
    other = copy.deepcopy(gpt2)
    other.pre_tokenizer = split_then_bytes(OTHER)
    other.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
    other.add_tokens([AddedToken("LEFIT", normalized=True), AddedToken("word", normalized=False, single_word=True)])
    other.add_special_tokens([special("<mask>", lstrip=True, rstrip=True)])

    steps = copy.deepcopy(gpt2)
    steps.normalizer = normalizers.Sequence([normalizers.NFD(), normalizers.Strip(left=False, right=True),
                                             normalizers.Replace("don", "DON"), normalizers.Replace(Regex(r"\s{2,}"), " ")])
    steps.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Digits(individual_digits=False),
        pre_tokenizers.Split("e", "merged_with_previous"), pre_tokenizers.Split(Regex(r"[aiou]"), "merged_with_next"),
        pre_tokenizers.Split(Regex(r"[xyz]\w"), "removed"), pre_tokenizers.Split(Regex(r"\p{P}"), "contiguous"),
        pre_tokenizers.Split(Regex(r"\S+"), "isolated", invert=True),
        pre_tokenizers.ByteLevel(add_prefix_space=True)])
    steps.add_special_tokens([special("<mask>", lstrip=True)])
    return {"other": other, "steps": steps, "characters": make_characters()}


def make_characters():
    """As Llama 2's: no byte-level words, bytes only for characters without token."""
    pieces = ["<unk>", "<s>", "</s>"] + [f"<0x{b:02X}>" for b in range(256)]
    letters = list("▁abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.,'é中")
    merges = [("▁", "t"), ("h", "e"), ("▁t", "he"), ("i", "n"), ("▁", "a"), ("a", "n"), ("an", "d"), ("▁", "▁"), ("a", "a"),
              ("aa", "aa")]
    vocab = {piece: i for i, piece in enumerate(pieces + letters + ["".join(m) for m in merges])}
    tokenizer = Tokenizer(models.BPE(vocab, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(),
                                           decoders.Strip(" ", 1, 0)])
    tokenizer.add_special_tokens([special("<unk>"), special("<s>"), special("</s>")])
    return tokenizer


def main():
    if len(sys.argv) < 2 or sys.argv[1] in ("--help", "-h"):
        print(__doc__)
        return 0 if len(sys.argv) > 1 else 2
    out = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else ROOT / "tests/golden/tokenizers"
    out.mkdir(parents=True, exist_ok=True)
    text = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")[:200_000] + "\n" + ELSEWHERE * 5
    golden = {"strings": STRINGS, "tokenizers": {}}
    for name, tokenizer in make_tokenizers(text).items():
        # one line a file would be hard to compare, one a token long
        (out / f"{name}.json").write_text(json.dumps(json.loads(tokenizer.to_str()), ensure_ascii=False) + "\n",
                                          encoding="utf-8")
        ids = [tokenizer.encode(s, add_special_tokens=False).ids for s in STRINGS]
        golden["tokenizers"][name] = {
            "vocab_size": tokenizer.get_vocab_size(), "ids": ids,
            "decoded": [tokenizer.decode(i, skip_special_tokens=False) for i in ids]}
    (out / "strings.json").write_text(json.dumps(golden, ensure_ascii=True) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
