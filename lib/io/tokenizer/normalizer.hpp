#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/tokenizer/json_field.hpp"
#include "io/tokenizer/regex.hpp"

namespace causeway {

/// A change that text undergoes before it is cut into words. Thread-safe.
class Normalizer {
  public:
    virtual ~Normalizer() = default;

    /// Appends what becomes of `text`, valid UTF-8 and not empty, to `out`.
    virtual void normalize(std::string_view text, RegexScratch& scratch, std::string& out) const = 0;

    /// True when `text` stays as it is; false when that takes more than a look to know.
    virtual bool keeps(std::string_view text) const = 0;

    /// True when two texts that meet between an ASCII character and an ASCII blank, or behind a line end, may be
    /// normalised each by itself.
    virtual bool is_local() const = 0;
};

/// One after the other.
using Normalizers = std::vector<std::unique_ptr<Normalizer>>;

/// Of the field "normalizer" of a tokenizer.json: null, NFC, NFD, NFKC, NFKD, Lowercase, Prepend, Replace, Strip or a
/// Sequence of such. Throws IoError for others.
Normalizers read_normalizers(const JsonField& field);

}  // namespace causeway
