#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "config/config.hpp"
#include "config/json.hpp"
#include "config/mistake.hpp"

namespace causeway::config {

/// How a value of type T is read from JSON, checked, written and described. A new kind of value is one more function
/// that returns a ValueType; nothing else knows the kinds.
template <class T>
struct ValueType {
    std::string allowed;  ///< completes "expected ..."
    Json schema;          ///< type and limits as JSON Schema
    bool is_text;         ///< an override gives it bare: --set data.path=a.txt
    std::function<T(const Json&, const Where&)> read;
    std::function<Json(const T&)> write;
};

/// Whole numbers from min to max. 2e3 and 2000.0 are whole, as in JSON Schema.
ValueType<std::int64_t> integer(std::int64_t min, std::int64_t max);

/// Every unsigned 64-bit number.
ValueType<std::uint64_t> any_unsigned();

/// Ends of an interval of real numbers; an open end is not part of it.
struct Interval {
    double min;
    double max;
    bool open_min = false;
    bool open_max = false;
};

/// Finite numbers inside the interval.
ValueType<double> number(const Interval& interval);

/// true or false.
ValueType<bool> flag();

/// Any string without NUL.
ValueType<std::string> text();

/// One of these strings.
ValueType<std::string> one_of(const std::vector<std::string>& names);

/// A second name of an enumerator.
struct OtherName {
    std::string name;
    std::size_t index;
};

/// The name of an enumerator to its index in `names` and back; one_of for enums. `names` is in the enum's order,
/// `others` are read too but never written.
ValueType<std::size_t> index_of(const std::vector<std::string>& names, const std::vector<OtherName>& others = {});

/// An enum whose enumerators count from 0 in the order of `names`.
template <class E>
ValueType<E> choice(const std::vector<std::string>& names, const std::vector<std::pair<std::string, E>>& others = {}) {
    std::vector<OtherName> other_names;
    for (const auto& [name, value] : others) other_names.push_back({name, static_cast<std::size_t>(value)});
    ValueType<std::size_t> index = index_of(names, other_names);
    return {index.allowed, index.schema, true,
            [read = index.read](const Json& value, const Where& where) { return static_cast<E>(read(value, where)); },
            [write = index.write](const E& value) { return write(static_cast<std::size_t>(value)); }};
}

/// A member of the objects in a list.
template <class Item>
struct Member {
    std::string key;
    Json schema;
    bool required;
    std::function<void(Item&, const Json&, const Where&)> read;
    std::function<Json(const Item&)> write;
};

template <class Item, class T>
Member<Item> member_of(const std::string& key, T Item::*member, const ValueType<T>& type, bool required = false) {
    return {key, type.schema, required,
            [member, read = type.read](Item& item, const Json& value, const Where& where) {
                item.*member = read(value, where);
            },
            [member, write = type.write](const Item& item) { return write(item.*member); }};
}

/// What a list says of its objects, whatever their C++ type.
struct ListShape {
    std::vector<std::string> keys;
    std::vector<std::string> required;
    std::vector<Json> schemas;  ///< one for each key

    std::string allowed() const;
    Json schema() const;
    /// Fails unless `value` is a list of objects with known keys, the required ones among them.
    void check(const Json& value, const Where& where) const;
};

/// A list of objects with these members.
template <class Item>
ValueType<std::vector<Item>> list_of(const std::vector<Member<Item>>& members) {
    ListShape shape;
    for (const Member<Item>& member : members) {
        shape.keys.push_back(member.key);
        shape.schemas.push_back(member.schema);
        if (member.required) shape.required.push_back(member.key);
    }
    auto read = [=](const Json& value, const Where& where) {
        shape.check(value, where);
        std::vector<Item> items;
        for (const Json& object : value) {
            const Where at{where.path + "[" + std::to_string(items.size()) + "]", where.origin};
            Item& item = items.emplace_back();
            for (const Member<Item>& member : members) {
                if (object.contains(member.key)) member.read(item, object[member.key], inside(at, member.key));
            }
        }
        return items;
    };
    auto write = [=](const std::vector<Item>& items) {
        Json list = Json::array();
        for (const Item& item : items) {
            Json object = Json::object();
            for (const Member<Item>& member : members) object[member.key] = member.write(item);
            list.push_back(std::move(object));
        }
        return list;
    };
    return {shape.allowed(), shape.schema(), false, read, write};
}

/// One entry of the field table: everything the parser, the writer, the schema and the reference know of a field.
struct Field {
    std::string key;
    std::string doc;
    std::vector<std::string> other_names;  ///< what other projects call it: only for hints
    std::string allowed;
    Json schema;
    bool is_text;
    std::function<void(Config&, const Json&, const Where&)> read;
    std::function<Json(const Config&)> write;
};

struct Section {
    std::string name;
    std::string doc;
    std::vector<Field> fields;
};

/// Collects the fields of one section, which is the member `S` of Config.
template <class S>
class SectionBuilder {
  public:
    SectionBuilder(std::string name, S Config::*part, std::string doc)
        : section_{std::move(name), std::move(doc), {}}, part_(part) {}

    template <class T>
    void add(const char* key, T S::*member, const ValueType<T>& type, const char* doc,
             std::vector<std::string> other_names = {}) {
        add_field(
            key, [ part = part_, member ](auto& config) -> auto& { return config.*part.*member; }, type, doc,
            std::move(other_names));
    }

    /// A field of an object inside the section; its key has the object's name and a dot before its own.
    template <class T, class Object>
    void add_member(const std::string& key, Object S::*object, T Object::*member, const ValueType<T>& type,
                    const char* doc) {
        add_field(key, [ part = part_, object, member ](auto& config) -> auto& { return config.*part.*object.*member; },
                  type, doc, {});
    }

    Section take() { return std::move(section_); }

  private:
    template <class T, class Find>
    void add_field(const std::string& key, Find find, const ValueType<T>& type, const char* doc,
                   std::vector<std::string> other_names) {
        auto read = [find, read = type.read](Config& config, const Json& value, const Where& where) {
            find(config) = read(value, where);
        };
        auto write = [find, write = type.write](const Config& config) { return write(find(config)); };
        section_.fields.push_back(
            {key, doc, std::move(other_names), type.allowed, type.schema, type.is_text, read, write});
    }

    Section section_;
    S Config::*part_;
};

}  // namespace causeway::config
