#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace causeway::cli {

/// Standard output is gone: its reader went away, or the disk is full.
class OutputError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// Opens what is closed of standard input, output and error, so that no file of a run gets its number and with it what
/// is meant for a reader. Opened the wrong way round: using them fails as before.
void reserve_standard_descriptors();

/// Writes to standard output and flushes. Throws OutputError, with the system's reason, when that fails.
void print(std::string_view text);

/// "causeway train: message" as one line on standard error.
void complain(std::string_view command, std::string_view message);

/// Says on standard error which tensors of a checkpoint the model has no use for; nothing when there are none.
void warn_of_unused(std::string_view command, std::string_view source, const std::vector<std::string>& tensors);

bool stdout_is_terminal();
/// On a terminal that can, unless NO_COLOR is set to something (https://no-color.org).
bool stdout_has_colour();
/// Columns of the terminal; 80 when unknown.
int terminal_width();

}  // namespace causeway::cli
