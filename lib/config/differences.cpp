#include "config/differences.hpp"

#include "config/field_table.hpp"

namespace causeway {

std::vector<FieldDifference> differences(const Config& before, const Config& after) {
    std::vector<FieldDifference> found;
    for (const config::Section& section : config::field_table()) {
        for (const config::Field& field : section.fields) {
            const config::Json old_value = field.write(before), new_value = field.write(after);
            if (old_value == new_value) continue;
            found.push_back({section.name + "." + field.key, old_value.dump(), new_value.dump()});
        }
    }
    return found;
}

}  // namespace causeway
