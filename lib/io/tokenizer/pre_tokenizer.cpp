#include "io/tokenizer/pre_tokenizer.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/format.hpp"
#include "io/tokenizer/known_pattern.hpp"
#include "io/tokenizer/read_pattern.hpp"

namespace causeway {
namespace {

using Piece = Regex::Match;

/// Turns a text's matches, and what lies between them, into words. One object a text.
class Behaviour {
  public:
    virtual ~Behaviour() = default;
    virtual void add(Piece piece, bool matched) = 0;
    virtual void finish() = 0;
};

class Emitter {
  public:
    Emitter(std::string_view text, WordSink& out) : text_(text), out_(out) {}
    void operator()(Piece piece) const {
        if (piece.begin != piece.end) out_.word(text_.substr(piece.begin, piece.end - piece.begin));
    }

  private:
    std::string_view text_;
    WordSink& out_;
};

/// Holds one piece back, with which the next may be merged.
template <class Joins>
class Merging final : public Behaviour {
  public:
    Merging(const Emitter& emit, Joins joins) : emit_(emit), joins_(joins) {}
    void add(Piece piece, bool matched) override {
        if (held_ && joins_(matched_, matched)) {
            held_->end = piece.end;
        } else {
            finish();
            held_ = piece;
        }
        matched_ = matched;
    }
    void finish() override {
        if (held_) emit_(*held_);
        held_.reset();
    }

  private:
    Emitter emit_;
    Joins joins_;
    std::optional<Piece> held_;
    bool matched_ = false;  ///< the last piece added
};

class Removing final : public Behaviour {
  public:
    explicit Removing(const Emitter& emit) : emit_(emit) {}
    void add(Piece piece, bool matched) override {
        if (!matched) emit_(piece);
    }
    void finish() override {}

  private:
    Emitter emit_;
};

enum class Kind { removed, isolated, merged_with_previous, merged_with_next, contiguous };
constexpr std::array kind_names{"Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"};

/// Cuts at what a pattern matches.
class Split final : public PreTokenizer {
  public:
    Split(Regex pattern, Kind kind, bool invert, const KnownPattern* known)
        : pattern_(std::move(pattern)), kind_(kind), invert_(invert), known_(known) {}

    void split(std::string_view text, RegexScratch& scratch, WordSink& out) const override {
        const Emitter emit(text, out);
        if (kind_ == Kind::isolated) {
            return each(text, scratch, [&](std::size_t begin, std::size_t end, bool) { emit({begin, end}); });
        }
        const auto run = [&](Behaviour&& behaviour) {
            each(text, scratch, [&](std::size_t begin, std::size_t end, bool matched) {
                behaviour.add({begin, end}, matched != invert_);
            });
            behaviour.finish();
        };
        const auto merging = [&](auto joins) { run(Merging(emit, joins)); };
        if (kind_ == Kind::removed) return run(Removing(emit));
        if (kind_ == Kind::contiguous) return merging([](bool before, bool now) { return before == now; });
        if (kind_ == Kind::merged_with_previous) return merging([](bool before, bool now) { return now && !before; });
        merging([](bool before, bool now) { return before && !now; });
    }

    CutRule cut_rule() const override {
        return known_ != nullptr && kind_ == Kind::isolated ? known_->cut_rule : CutRule::never;
    }

  private:
    template <class Visit>
    void each(std::string_view text, RegexScratch& scratch, Visit visit) const {
        if (known_ != nullptr) return pattern_.split(text, scratch, known_->quick, visit);
        pattern_.split(
            text, scratch, [](std::string_view, std::size_t) { return std::size_t{0}; }, visit);
    }

    Regex pattern_;
    Kind kind_;
    bool invert_;
    const KnownPattern* known_;
};

/// Cuts at digits, of whatever script.
class Digits final : public PreTokenizer {
  public:
    explicit Digits(bool individual)
        : split_(Regex("\\p{N}"), individual ? Kind::isolated : Kind::contiguous, false, nullptr) {}
    void split(std::string_view text, RegexScratch& scratch, WordSink& out) const override {
        split_.split(text, scratch, out);
    }
    /// Wherever a digit meets something else there is a cut already.
    CutRule cut_rule() const override { return CutRule::at_blank; }

  private:
    Split split_;
};

class PrefixSpace final : public PreTokenizer {
  public:
    void split(std::string_view text, RegexScratch&, WordSink& out) const override {
        if (text.starts_with(' ')) return out.word(text);
        out.word(" " + std::string(text));
    }
    CutRule cut_rule() const override { return CutRule::never; }
};

class NextStage final : public WordSink {
  public:
    using Stages = std::span<const std::unique_ptr<PreTokenizer>>;
    NextStage(Stages stages, RegexScratch& scratch, WordSink& out) : stages_(stages), scratch_(scratch), out_(out) {}

    void word(std::string_view text) override {
        if (stages_.empty()) return out_.word(text);
        if (stages_.size() == 1) return stages_.front()->split(text, scratch_, out_);
        NextStage next(stages_.subspan(1), scratch_, out_);
        stages_.front()->split(text, scratch_, next);
    }

  private:
    Stages stages_;
    RegexScratch& scratch_;
    WordSink& out_;
};

std::unique_ptr<PreTokenizer> read_split(const JsonField& field) {
    const std::string name = field["behavior"].text();
    // as Python writes it: merged_with_previous
    const auto same = [&](const char* other) {
        const auto plain = [](std::string_view text) {
            std::string result;
            for (const char c : text) {
                if (c != '_') result.push_back(static_cast<char>(c >= 'A' && c <= 'Z' ? c | 0x20 : c));
            }
            return result;
        };
        return plain(name) == plain(other);
    };
    const auto found = std::ranges::find_if(kind_names, same);
    if (found == kind_names.end()) {
        field["behavior"].refuse_value("Removed, Isolated, MergedWithPrevious, MergedWithNext or Contiguous");
    }
    const auto& regex = field["pattern"]["Regex"];
    const KnownPattern* const known = regex.is_null() ? nullptr : find_known_pattern(regex.text());
    return std::make_unique<Split>(read_pattern(field["pattern"]), static_cast<Kind>(found - kind_names.begin()),
                                   field["invert"].flag(false), known);
}

void read_into(const JsonField& field, PreTokenizers& result, int depth) {
    constexpr int deepest = 8;
    if (field.is_null()) return;
    if (result.byte_level) field.refuse("a pre-tokenizer after ByteLevel is not supported");
    const std::string type = field.type();
    if (type == "Sequence") {
        if (depth == deepest) field.refuse("sequences within sequences go too deep");
        for (const JsonField& inner : field["pretokenizers"].elements()) read_into(inner, result, depth + 1);
    } else if (type == "Split") {
        result.stages.push_back(read_split(field));
    } else if (type == "Digits") {
        result.stages.push_back(std::make_unique<Digits>(field["individual_digits"].flag(false)));
    } else if (type == "ByteLevel") {
        result.byte_level = true;
        if (field["add_prefix_space"].flag(true)) result.stages.push_back(std::make_unique<PrefixSpace>());
        if (!field["use_regex"].flag(true)) return;
        result.stages.push_back(std::make_unique<Split>(Regex(std::string(gpt2_pattern)), Kind::isolated, false,
                                                        find_known_pattern(gpt2_pattern)));
    } else {
        field.refuse(fmt::format(
            "the pre-tokenizer \"{}\" is not supported; there are ByteLevel, Split, Digits and Sequence", type));
    }
}

}  // namespace

void PreTokenizers::split(std::string_view text, RegexScratch& scratch, WordSink& out) const {
    NextStage(stages, scratch, out).word(text);
}

CutRule PreTokenizers::cut_rule() const {
    if (stages.empty() || stages.back()->cut_rule() == CutRule::never) return CutRule::never;
    const auto digits = [](const auto& stage) { return dynamic_cast<const Digits*>(stage.get()) != nullptr; };
    const bool only_digits = std::all_of(stages.begin(), stages.end() - 1, digits) && !digits(stages.back());
    return only_digits ? stages.back()->cut_rule() : CutRule::never;
}

PreTokenizers read_pre_tokenizers(const JsonField& field) {
    PreTokenizers result;
    read_into(field, result, 0);
    return result;
}

}  // namespace causeway
