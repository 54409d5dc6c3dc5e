#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace causeway {

using Attribute = std::variant<bool, std::int64_t, double, std::string>;

/// The fixed settings of a node: few, named, in the order given. Read when a graph is compiled, never while it runs.
class Attributes {
  public:
    Attributes() = default;
    Attributes(std::initializer_list<std::pair<std::string, Attribute>> entries) : entries_(entries) {}

    /// Throws GraphError when there is no such attribute or it has another type.
    template <class T>
    const T& get(std::string_view name) const {
        if (const T* value = std::get_if<T>(find(name))) return *value;
        missing(name);
    }
    void set(std::string_view name, Attribute value);
    bool has(std::string_view name) const;
    const std::vector<std::pair<std::string, Attribute>>& entries() const { return entries_; }

  private:
    const Attribute* find(std::string_view name) const;
    [[noreturn]] static void missing(std::string_view name);

    std::vector<std::pair<std::string, Attribute>> entries_;
};

/// "true", "12", "0.125" or the string itself.
std::string to_string(const Attribute& attribute);

}  // namespace causeway
