// Decoding of the sequences of a zstd block (RFC 8878, 3.1.1.3.2, 3.1.1.4): a number of literals, then a
// match.
#pragma once

#include "core/host_device.hpp"
#include "kernels/zstd/tables.hpp"

namespace sepconv::zstd {

/// Bit reader of sequences that reads several numbers per memory access.
class SequenceBits {
 public:
  SEPCONV_HOST_DEVICE explicit SequenceBits(const BackwardBits& bits) : bits_(bits) {}
  /// Ensures that the next `count` bits, at most BackwardBits::kPeeked, can be read.
  SEPCONV_HOST_DEVICE void need(unsigned count) {
    if (available_ >= static_cast<int>(count)) return;
    next_ = bits_.peek();
    available_ = BackwardBits::kPeeked;
  }
  SEPCONV_HOST_DEVICE std::uint32_t read(unsigned count) {
    const std::uint64_t value = next_ >> 1 >> (63 - count);
    next_ <<= count;
    available_ -= static_cast<int>(count);
    bits_.skip(count);
    return static_cast<std::uint32_t>(value);
  }
  SEPCONV_HOST_DEVICE std::int32_t left() const { return bits_.left(); }

 private:
  BackwardBits bits_;
  std::uint64_t next_ = 0;
  int available_ = 0;
};

struct ReadSequence {
  std::uint32_t literals, length;
  std::uint64_t distance;  ///< 0: invalid
};

/// The last three distances of a frame (repeat offsets).
struct Distances {
  std::uint64_t last[3] = {1, 4, 8};

  /// The distance for an offset value (3.1.1.5); 0 if the value is invalid.
  SEPCONV_HOST_DEVICE std::uint64_t read(std::uint64_t value, bool after_literals) {
    if (value > 3) return push_front(value - 3, 2);
    const std::uint64_t index = value - (after_literals ? 1 : 0);  // 0 to 3
    if (index == 0) return last[0];
    if (index == 3) return push_front(last[0] - 1, 2);
    return push_front(index == 1 ? last[1] : last[2], static_cast<unsigned>(index));
  }

 private:
  /// Moves the distance to the front; the entries before `from` move back.
  SEPCONV_HOST_DEVICE std::uint64_t push_front(std::uint64_t distance, unsigned from) {
    if (from == 2) last[2] = last[1];
    last[1] = last[0];
    last[0] = distance;
    return distance;
  }
};

/// Decodes sequences one after another.
class SequenceReader {
 public:
  SEPCONV_HOST_DEVICE SequenceReader(const Tables& tables, const unsigned (&logs)[3],
                                     const BackwardBits& bits)
      : tables_(tables), bits_(bits) {
    bits_.need(26);
    for (unsigned kind = 0; kind < 3; ++kind) states_[kind] = bits_.read(logs[kind]);
  }

  SEPCONV_HOST_DEVICE ReadSequence read(Distances& distances) {
    const State literals = tables_.states[kLiterals][states_[kLiterals]];
    const State length = tables_.states[kLengths][states_[kLengths]];
    const State distance = tables_.states[kDistances][states_[kDistances]];
    const Extra literals_extra = literals_of(literals.symbol), length_extra = length_of(length.symbol);
    bits_.need(distance.symbol);
    const std::uint64_t value = (std::uint64_t{1} << distance.symbol) + bits_.read(distance.symbol);
    bits_.need(length_extra.bits + literals_extra.bits);
    ReadSequence sequence{};
    sequence.length = length_extra.base + bits_.read(length_extra.bits);
    sequence.literals = literals_extra.base + bits_.read(literals_extra.bits);
    sequence.distance = distances.read(value, sequence.literals != 0);
    return sequence;
  }

  /// Advances the states; called before each sequence except the first.
  SEPCONV_HOST_DEVICE void step() {
    bits_.need(26);
    step(kLiterals);
    step(kLengths);
    step(kDistances);
  }

  SEPCONV_HOST_DEVICE std::int32_t left() const { return bits_.left(); }

 private:
  SEPCONV_HOST_DEVICE void step(unsigned kind) {
    const State now = tables_.states[kind][states_[kind]];
    states_[kind] = now.next + bits_.read(now.bits);
  }

  const Tables& tables_;
  SequenceBits bits_;
  std::uint32_t states_[3] = {};
};

}  // namespace sepconv::zstd
