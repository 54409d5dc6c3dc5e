#pragma once

#include <cstdint>

#include "support/floats.hpp"

namespace causeway::bench {

/// Plain loops over arrays that do next to no arithmetic: what the caches and the memory give a kernel that has to read
/// and write as many arrays (McCalpin's STREAM, with the update of an optimizer beside it).
enum class Stream {
    none,
    read,   ///< sum += x
    copy,   ///< y = c x
    adamw,  ///< reads p, g, m, v, writes p, m, v
};

/// The arrays of one stream, of n elements each.
class StreamArrays {
  public:
    StreamArrays(Stream kind, std::int64_t n);

    /// Once through all arrays, on all threads.
    void run();
    /// Bytes that one run reads and writes.
    double bytes() const;
    Stream kind() const { return kind_; }
    std::int64_t elements() const { return n_; }
    /// How many arrays a stream has.
    static std::int64_t arrays(Stream kind);

  private:
    void run(std::int64_t begin, std::int64_t end);

    Stream kind_;
    std::int64_t n_;
    Floats x_;  ///< all arrays, one after the other
};

/// The best rate of several short runs through `distinct_bytes` of memory. 0 for Stream::none, and below 16 KiB, where
/// a call costs more than the bytes.
double stream_bytes_per_second(Stream kind, double distinct_bytes);

}  // namespace causeway::bench
