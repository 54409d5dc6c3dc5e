#pragma once

#include <cstddef>
#include <utility>

namespace causeway {

/// Zero-filled memory straight from the system, aligned to its pages, on huge pages where the system gives them.
/// Move-only. Memory is reserved at construction and paged in at first touch.
class Buffer {
  public:
    Buffer() = default;
    /// Throws CapacityError when the system refuses the reservation.
    explicit Buffer(std::size_t bytes);
    Buffer(Buffer&& other) noexcept { swap(other); }
    Buffer& operator=(Buffer&& other) noexcept {
        swap(other);
        return *this;
    }
    ~Buffer();

    std::byte* data() const { return data_; }
    std::size_t size() const { return bytes_; }

  private:
    void swap(Buffer& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(bytes_, other.bytes_);
        std::swap(mapped_, other.mapped_);
    }
    std::byte* data_ = nullptr;
    std::size_t bytes_ = 0;
    std::size_t mapped_ = 0;
};

}  // namespace causeway
