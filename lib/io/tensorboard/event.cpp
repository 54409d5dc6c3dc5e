#include "io/tensorboard/event.hpp"

#include <bit>
#include <utility>

namespace causeway::tensorboard {
namespace {

/// A message in protocol buffers' wire format, field by field in ascending order.
/// https://protobuf.dev/programming-guides/encoding
class Message {
  public:
    Message& integer(int field, std::uint64_t value) {
        key(field, 0);
        varint(value);
        return *this;
    }
    Message& number(int field, double value) {
        key(field, 1);
        fixed(std::bit_cast<std::uint64_t>(value));
        return *this;
    }
    Message& number(int field, float value) {
        key(field, 5);
        fixed(std::bit_cast<std::uint32_t>(value));
        return *this;
    }
    Message& bytes(int field, std::string_view value) {
        key(field, 2);
        varint(value.size());
        text_ += value;
        return *this;
    }
    Message& message(int field, const Message& value) { return bytes(field, value.text_); }

    std::string take() { return std::move(text_); }

  private:
    void key(int field, int wire_type) { varint(static_cast<std::uint64_t>(field << 3 | wire_type)); }
    void varint(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7) text_.push_back(static_cast<char>((value & 0x7f) | 0x80));
        text_.push_back(static_cast<char>(value));
    }
    template <class T>
    void fixed(T value) {
        for (std::size_t i = 0; i < sizeof(T); ++i) text_.push_back(static_cast<char>(value >> (8 * i) & 0xff));
    }

    std::string text_;
};

/// Event: wall_time 1, step 2 (left out when 0, as its default is), file_version 3, summary 5, session_log 7.
Message event(double wall_time, std::int64_t step) {
    Message message;
    message.number(1, wall_time);
    if (step != 0) message.integer(2, static_cast<std::uint64_t>(step));
    return message;
}

}  // namespace

std::string version_event(double wall_time) { return event(wall_time, 0).bytes(3, "brain.Event:2").take(); }

std::string start_event(double wall_time, std::int64_t step) {
    constexpr std::uint64_t start = 1;  // SessionLog: status 1
    return event(wall_time, step).message(7, Message().integer(1, start)).take();
}

std::string scalar_event(double wall_time, std::int64_t step, std::span<const Scalar> scalars) {
    Message summary;  // Summary: value 1; Summary.Value: tag 1, simple_value 2
    for (const Scalar& scalar : scalars) {
        summary.message(1, Message().bytes(1, scalar.tag).number(2, static_cast<float>(scalar.value)));
    }
    return event(wall_time, step).message(5, summary).take();
}

std::string text_event(double wall_time, std::int64_t step, std::string_view tag, std::string_view text) {
    constexpr std::uint64_t string_type = 7, tensor_class = 2;
    const Message plugin = Message().bytes(1, "text");                               // PluginData: plugin_name 1
    const Message metadata = Message().message(1, plugin).integer(4, tensor_class);  // plugin_data 1, data_class 4
    const Message shape = Message().message(2, Message().integer(1, 1));             // dim 2; Dim: size 1
    const Message tensor = Message().integer(1, string_type).message(2, shape).bytes(8, text);  // dtype, shape, value
    const Message value = Message().bytes(1, tag).message(8, tensor).message(9, metadata);
    return event(wall_time, step).message(5, Message().message(1, value)).take();
}

}  // namespace causeway::tensorboard
