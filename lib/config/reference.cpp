#include "base/format.hpp"
#include "config/config.hpp"
#include "config/field_table.hpp"

namespace causeway {

std::string config_reference() {
    const Config defaults;
    std::string text;
    for (const config::Section& section : config::field_table()) {
        text += fmt::format("{}### `{}`\n\n{}\n\n", text.empty() ? "" : "\n", section.name, section.doc);
        text += "| field | allowed | default | meaning |\n|---|---|---|---|\n";
        for (const config::Field& field : section.fields) {
            text += fmt::format("| `{}` | {} | `{}` | {} |\n", field.key, field.allowed, field.write(defaults).dump(),
                                field.doc);
        }
    }
    return text;
}

}  // namespace causeway
