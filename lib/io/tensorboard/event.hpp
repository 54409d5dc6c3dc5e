#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace causeway::tensorboard {

struct Scalar {
    std::string_view tag;
    double value = 0;  ///< stored as f32; NaN and infinities are kept
};

// Event messages (tensorflow/core/util/event.proto) in wire format; wall_time in seconds since 1970.

/// The first of a file.
std::string version_event(double wall_time);
/// A run starts or goes on with that step: TensorBoard drops what it has of it and of later ones.
std::string start_event(double wall_time, std::int64_t step);
std::string scalar_event(double wall_time, std::int64_t step, std::span<const Scalar> scalars);
/// For the text plugin, which shows it as Markdown: four blanks before each line keep it as it is.
std::string text_event(double wall_time, std::int64_t step, std::string_view tag, std::string_view text);

}  // namespace causeway::tensorboard
