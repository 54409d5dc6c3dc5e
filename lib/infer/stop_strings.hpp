#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace causeway::infer {

/// Lets text through up to, but not including, the first of some strings, which may come in pieces: what could be the
/// beginning of one is held back until it is known.
class StopStrings {
  public:
    /// Strings of bytes. Throws ConfigError for an empty one.
    explicit StopStrings(std::vector<std::string> strings);

    /// Takes more text and returns what can be shown by now. O(length of both times that of the strings).
    std::string add(std::string_view text);
    /// True as soon as one of the strings is complete; nothing comes through any more.
    bool stopped() const { return stopped_; }
    /// What is still held back when the text ends without one.
    std::string finish();

  private:
    std::vector<std::string> strings_;
    std::string held_;
    bool stopped_ = false;
};

}  // namespace causeway::infer
