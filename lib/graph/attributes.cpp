#include "graph/attributes.hpp"

#include <algorithm>

#include "base/format.hpp"
#include "causeway/error.hpp"

namespace causeway {

const Attribute* Attributes::find(std::string_view name) const {
    const auto entry = std::ranges::find(entries_, name, &std::pair<std::string, Attribute>::first);
    return entry == entries_.end() ? nullptr : &entry->second;
}

bool Attributes::has(std::string_view name) const { return find(name) != nullptr; }

void Attributes::set(std::string_view name, Attribute value) {
    const auto entry = std::ranges::find(entries_, name, &std::pair<std::string, Attribute>::first);
    if (entry == entries_.end()) {
        entries_.emplace_back(name, std::move(value));
    } else {
        entry->second = std::move(value);
    }
}

void Attributes::missing(std::string_view name) {
    throw GraphError(fmt::format("a node lacks the attribute '{}' or it has another type", name));
}

std::string to_string(const Attribute& attribute) {
    return std::visit([](const auto& value) { return fmt::format("{}", value); }, attribute);
}

}  // namespace causeway
