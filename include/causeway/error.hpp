#pragma once

#include <stdexcept>
#include <string>

namespace causeway {

/// Base of everything Causeway throws. The message says what went wrong, where, what was expected and what was found.
class Error : public std::runtime_error {
  public:
    explicit Error(const std::string& message) : std::runtime_error(message) {}
};

/// A config (or an override) that cannot be used; the message starts with the JSON path of the field.
class ConfigError : public Error {
  public:
    using Error::Error;
};

/// A file that cannot be read, written or trusted; the message starts with its path.
class IoError : public Error {
  public:
    using Error::Error;
};

/// Token ids, targets or other data outside their range; the message names value, position and range.
class DataError : public Error {
  public:
    using Error::Error;
};

/// A graph or plan that does not hold together: shapes that disagree, a value used before it exists.
class GraphError : public Error {
  public:
    using Error::Error;
};

/// More memory, threads or instruction set than the machine has; the message gives both figures.
class CapacityError : public Error {
  public:
    using Error::Error;
};

/// A NaN or infinity where only finite numbers may be; the message names the step and the parameter or operation.
class NumericError : public Error {
  public:
    using Error::Error;
};

}  // namespace causeway
