#include "config/field.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/format.hpp"
#include "config/nearest_name.hpp"

namespace causeway::config {
namespace {

constexpr double largest_exact_integer = 9007199254740992.0;  // 2^53: above it a double skips whole numbers

/// A whole number from a JSON number that has one; a float such as 2e3 counts when it is exact.
template <class T>
bool to_whole(const Json& value, T& whole) {
    if (value.is_number_float()) {
        const double real = value.get<double>();
        if (!(std::abs(real) <= largest_exact_integer) || real != std::floor(real)) return false;
        const auto exact = static_cast<std::int64_t>(real);
        whole = static_cast<T>(exact);
        return std::in_range<T>(exact);
    }
    if (value.is_number_unsigned()) {
        const auto exact = value.get<std::uint64_t>();
        whole = static_cast<T>(exact);
        return std::in_range<T>(exact);
    }
    if (!value.is_number_integer()) return false;
    const auto exact = value.get<std::int64_t>();
    whole = static_cast<T>(exact);
    return std::in_range<T>(exact);
}

template <class T>
ValueType<T> whole_number(T min, T max) {
    const std::string allowed = fmt::format("an integer from {} to {}", min, max);
    auto read = [=](const Json& value, const Where& where) {
        T whole{};
        if (!to_whole(value, whole) || whole < min || whole > max) fail_value(where, value, allowed);
        return whole;
    };
    const Json schema = {{"type", "integer"}, {"minimum", min}, {"maximum", max}};
    return {allowed, schema, false, read, [](const T& value) { return Json(value); }};
}

bool contains(const Interval& interval, double value) {
    if (!std::isfinite(value)) return false;
    const bool above = interval.open_min ? value > interval.min : value >= interval.min;
    const bool below = interval.open_max ? value < interval.max : value <= interval.max;
    return above && below;
}

std::size_t find_name(const std::vector<std::string>& names, const Json& value) {
    if (!value.is_string()) return names.size();
    const auto found = std::find(names.begin(), names.end(), value.get_ref<const std::string&>());
    return static_cast<std::size_t>(found - names.begin());
}

bool is_utf8(const std::string& bytes) {
    try {
        (void)Json(bytes).dump();
        return true;
    } catch (const Json::exception&) {
        return false;
    }
}

}  // namespace

ValueType<std::int64_t> integer(std::int64_t min, std::int64_t max) { return whole_number(min, max); }

ValueType<std::uint64_t> any_unsigned() {
    return whole_number<std::uint64_t>(0, std::numeric_limits<std::uint64_t>::max());
}

ValueType<double> number(const Interval& interval) {
    const std::string allowed = fmt::format("a number {} {} and {} {}", interval.open_min ? ">" : ">=", interval.min,
                                            interval.open_max ? "<" : "<=", interval.max);
    auto read = [=](const Json& value, const Where& where) {
        if (!value.is_number() || !contains(interval, value.get<double>())) fail_value(where, value, allowed);
        return value.get<double>();
    };
    const Json schema = {{"type", "number"},
                         {interval.open_min ? "exclusiveMinimum" : "minimum", interval.min},
                         {interval.open_max ? "exclusiveMaximum" : "maximum", interval.max}};
    return {allowed, schema, false, read, [](const double& value) { return Json(value); }};
}

ValueType<bool> flag() {
    auto read = [](const Json& value, const Where& where) {
        if (!value.is_boolean()) fail_value(where, value, "true or false");
        return value.get<bool>();
    };
    return {"true or false", {{"type", "boolean"}}, false, read, [](const bool& value) { return Json(value); }};
}

ValueType<std::string> text() {
    auto read = [](const Json& value, const Where& where) {
        if (!value.is_string()) fail_value(where, value, "a string");
        const auto& characters = value.get_ref<const std::string&>();
        if (characters.find('\0') != std::string::npos) fail_value(where, value, "a string without NUL characters");
        if (!is_utf8(characters)) fail_value(where, value, "valid UTF-8");
        return characters;
    };
    return {"a string", {{"type", "string"}}, true, read, [](const std::string& value) { return Json(value); }};
}

ValueType<std::size_t> index_of(const std::vector<std::string>& names, const std::vector<OtherName>& others) {
    const std::string allowed =
        names.size() == 1 ? "\"" + names.front() + "\"" : fmt::format("one of: {}", fmt::join(names, ", "));
    auto read = [=](const Json& value, const Where& where) {
        const std::size_t index = find_name(names, value);
        if (index < names.size()) return index;
        for (const OtherName& other : others) {
            if (value == other.name) return other.index;
        }
        const std::string nearest = value.is_string() ? nearest_name(value.get<std::string>(), names) : "";
        fail_value(where, value, allowed, nearest.empty() ? "" : "; did you mean \"" + nearest + "\"?");
    };
    // An index without a name is only possible in a config made in C++; as a number it fails to read.
    auto write = [=](const std::size_t& index) { return index < names.size() ? Json(names[index]) : Json(index); };
    std::vector<std::string> all = names;
    for (const OtherName& other : others) all.push_back(other.name);
    return {allowed, {{"type", "string"}, {"enum", all}}, true, read, write};
}

ValueType<std::string> one_of(const std::vector<std::string>& names) {
    const ValueType<std::size_t> index = index_of(names);
    auto read = [=](const Json& value, const Where& where) { return names[index.read(value, where)]; };
    return {index.allowed, index.schema, true, read, [](const std::string& value) { return Json(value); }};
}

std::string ListShape::allowed() const { return fmt::format("a list of objects {{{}}}", fmt::join(keys, ", ")); }

Json ListShape::schema() const {
    Json properties = Json::object();
    for (std::size_t i = 0; i < keys.size(); ++i) properties[keys[i]] = schemas[i];
    return {
        {"type", "array"},
        {"items",
         {{"type", "object"}, {"additionalProperties", false}, {"properties", properties}, {"required", required}}}};
}

void ListShape::check(const Json& value, const Where& where) const {
    if (!value.is_array()) fail_value(where, value, allowed());
    for (std::size_t i = 0; i < value.size(); ++i) {
        const Where at{fmt::format("{}[{}]", where.path, i), where.origin};
        if (!value[i].is_object()) fail_value(at, value[i], fmt::format("an object {{{}}}", fmt::join(keys, ", ")));
        for (const auto& entry : value[i].items()) {
            if (std::find(keys.begin(), keys.end(), entry.key()) != keys.end()) continue;
            const std::string nearest = nearest_name(entry.key(), keys);
            fail(inside(at, entry.key()),
                 fmt::format("unknown key{}; keys: {}", nearest.empty() ? "" : ", did you mean \"" + nearest + "\"?",
                             fmt::join(keys, ", ")));
        }
        for (const std::string& key : required) {
            if (!value[i].contains(key)) fail(at, fmt::format("has no {}, expected {}", key, fmt::join(keys, ", ")));
        }
    }
}

}  // namespace causeway::config
