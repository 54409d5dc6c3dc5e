// libFuzzer target: whatever a line is, the readers of texts and conversations take it or refuse it with a DataError,
// and so does each chat format; what a format scores lies inside what it writes.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "causeway/error.hpp"
#include "data/json_lines.hpp"

namespace {

template <class Work>
void tolerate(const Work& work) {
    try {
        work();
    } catch (const causeway::DataError&) {
    }
}

void write(causeway::ChatFormat format, const std::vector<causeway::ChatMessage>& messages) {
    for (const causeway::ChatText& text : causeway::write_chat(format, messages)) {
        if (text.scored_begin > text.scored_end || text.scored_end > text.text.size()) std::abort();
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view line(reinterpret_cast<const char*>(data), size);
    tolerate([&] { causeway::read_text_line(line); });
    tolerate([&] {
        const auto messages = causeway::read_chat_line(line);
        for (const auto format :
             {causeway::ChatFormat::minimind, causeway::ChatFormat::qwen, causeway::ChatFormat::llama3}) {
            tolerate([&] { write(format, messages); });
        }
    });
    return 0;
}
