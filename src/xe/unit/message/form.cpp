// SPDX-License-Identifier: MIT
// Reads message descriptors by their bits. Source: Intel's Programmer's Reference Manuals for Xe (data port,
// LSC and gateway messages); the same fields are named in visa/iga/IGALibrary/Backend/Messages of
// intel/intel-graphics-compiler.
#include "xe/unit/message/form.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace kiln::xe {
namespace {

constexpr std::uint32_t kNonCoherent = 253, kSlm = 254, kStateless = 255;

constexpr std::uint32_t field(std::uint32_t word, std::uint32_t at, std::uint32_t bits) {
  return word >> at & ((1U << bits) - 1);
}

Form unknown(std::string why) {
  Form form;
  form.why = std::move(why);
  return form;
}

/// The binding table's number in a data port's descriptor.
void place_by_table(Form& form, std::uint32_t index) {
  form.address_bytes = 4;
  if (index == kSlm) {
    form.where = Form::Where::slm;
  } else if (index == kStateless || index == kNonCoherent) {
    form.where = Form::Where::stateless;
  } else {
    form.where = Form::Where::surface;
    form.surface_kind = SurfaceKind::table;
    form.surface = index;
  }
}

/// 16 bytes in the lower or upper half of a register, 2, 4, 8 or 16 times 16 bytes.
bool read_oword_block(Form& form, std::uint32_t code) {
  if (code > 5) return false;
  form.memory_bytes = form.register_bytes = 16;
  form.elements = code < 2 ? 1 : 1U << (code - 1);
  form.high_half_of_register = code == 1;
  return true;
}

constexpr std::uint32_t kNoAtomic = 0xff;
/// The data ports' numbers of integer atomics; 0 is a compare and swap of 64 bits.
constexpr std::array<std::uint32_t, 16> kIntegerAtomics{
    static_cast<std::uint32_t>(Atomic::cas),   static_cast<std::uint32_t>(Atomic::band),
    static_cast<std::uint32_t>(Atomic::bor),   static_cast<std::uint32_t>(Atomic::bxor),
    static_cast<std::uint32_t>(Atomic::store), static_cast<std::uint32_t>(Atomic::inc),
    static_cast<std::uint32_t>(Atomic::dec),   static_cast<std::uint32_t>(Atomic::add),
    static_cast<std::uint32_t>(Atomic::sub),   static_cast<std::uint32_t>(Atomic::reverse_sub),
    static_cast<std::uint32_t>(Atomic::smax),  static_cast<std::uint32_t>(Atomic::smin),
    static_cast<std::uint32_t>(Atomic::umax),  static_cast<std::uint32_t>(Atomic::umin),
    static_cast<std::uint32_t>(Atomic::cas),   static_cast<std::uint32_t>(Atomic::predec)};
constexpr std::array<std::uint32_t, 8> kFloatAtomics{kNoAtomic,
                                                     static_cast<std::uint32_t>(Atomic::fmax),
                                                     static_cast<std::uint32_t>(Atomic::fmin),
                                                     static_cast<std::uint32_t>(Atomic::fcas),
                                                     static_cast<std::uint32_t>(Atomic::fadd),
                                                     static_cast<std::uint32_t>(Atomic::fsub),
                                                     static_cast<std::uint32_t>(Atomic::fadd),
                                                     static_cast<std::uint32_t>(Atomic::fsub)};

class DataPort {
 public:
  DataPort(std::uint32_t descriptor, std::uint32_t register_bytes, bool older)
      : d_(descriptor), wide_(register_bytes == 64 ? 2 : 1), older_(older) {
    form_.header = field(d_, 19, 1);
  }

  Form dc0() {
    if (field(d_, 18, 1)) return scratch();
    const std::uint32_t type = field(d_, 14, 5);
    place();
    switch (type) {
      case 0x00:
      case 0x08:
        return block(type == 0x08 ? Form::Kind::block_store : Form::Kind::block_load, 16);
      case 0x01:
      case 0x09:
        if (!older_ && field(d_, 13, 1)) return unknown("a block of 32-byte words by surface");
        return block(type == 0x09 ? Form::Kind::block_store : Form::Kind::block_load, 1);
      case 0x03:
      case 0x0b:
        return gather(type == 0x0b, 4, 4, 1, simd16_at(8));
      case 0x04:
      case 0x0c:
        if (field(d_, 10, 2) == 3) return unknown("a size of bytes");
        return gather(type == 0x0c, static_cast<std::uint8_t>(1U << field(d_, 10, 2)), 4, 1, simd16_at(8));
      case 0x05:
      case 0x0d:
        return gather(type == 0x0d, 8, 8, 1U << field(d_, 10, 2), simd16_at(8));
      case 0x07:
        form_.kind = Form::Kind::fence;
        return form_;
      default:
        return unknown("type " + std::to_string(type) + " of data port 0");
    }
  }

  Form dc1() {
    const std::uint32_t type = field(d_, 14, 5);
    place();
    switch (type) {
      case 0x01:
      case 0x09:
        return quad(type == 0x09, false);
      case 0x11:
      case 0x19:
        return quad(type == 0x19, true);
      case 0x10:
      case 0x1a: {
        flat();
        const std::uint32_t kind = field(d_, 8, 2), size = 1U << field(d_, 10, 2);
        const bool is_write = type == 0x1a;
        if (kind == 1) return gather(is_write, 4, 4, size, simd16_at(12));
        if (kind == 2) return gather(is_write, 8, 8, size, simd16_at(12));
        if (kind == 3 || size == 8) return unknown("a gathering of bytes with a status");
        return gather(is_write, static_cast<std::uint8_t>(size), 4, 1, simd16_at(12));
      }
      case 0x14:
      case 0x15: {
        flat();
        form_.kind = type == 0x15 ? Form::Kind::block_store : Form::Kind::block_load;
        form_.block_in_header = form_.header_is_64 = true;
        const std::uint32_t kind = field(d_, 11, 2);
        if (kind == 3) {
          form_.memory_bytes = form_.register_bytes = 32;
          form_.elements = 1U << field(d_, 8, 3);
          return form_;
        }
        if (kind == 2 || !read_oword_block(form_, field(d_, 8, 3))) return unknown("a dual block");
        return form_;
      }
      case 0x02:
        return atomic(4, kIntegerAtomics[field(d_, 8, 4)], simd8_at(12));
      case 0x12:
        flat();
        return atomic(field(d_, 12, 1) ? 8 : 4, kIntegerAtomics[field(d_, 8, 4)], 8 * wide_);
      case 0x1b:
        return atomic(field(d_, 8, 3) > 5 ? 8 : 4, kFloatAtomics[field(d_, 8, 3)], simd8_at(12));
      case 0x1d:
        flat();
        return atomic(field(d_, 8, 3) > 5 ? 8 : 4, kFloatAtomics[field(d_, 8, 3)], 8 * wide_);
      case 0x03:
        return atomic(2, kIntegerAtomics[field(d_, 8, 4)], simd8_at(12));
      case 0x13:
        flat();
        return atomic(2, kIntegerAtomics[field(d_, 8, 4)], simd8_at(12));
      case 0x1c:
        return atomic(2, kFloatAtomics[field(d_, 8, 3)], simd8_at(12));
      case 0x1e:
        flat();
        return atomic(2, kFloatAtomics[field(d_, 8, 3)], simd8_at(12));
      default:
        return unknown("type " + std::to_string(type) + " of data port 1 (images have some of them)");
    }
  }

  Form read_only() {
    const std::uint32_t type = field(d_, 14, 5);
    place();
    if (type == 0 || type == 1) return block(Form::Kind::block_load, type == 0 ? 16 : 1);
    if (type == 3) return gather(false, 4, 4, 1, simd16_at(8));
    return unknown("type " + std::to_string(type) + " of the read-only data port");
  }

 private:
  void place() {
    place_by_table(form_, field(d_, 0, 8));
    form_.base_in_header = older_ && form_.header && form_.where == Form::Where::stateless;
  }
  void flat() {
    form_.where = Form::Where::flat;
    form_.base_in_header = false;
    form_.address_bytes = 8;
  }
  [[nodiscard]] std::uint32_t simd16_at(std::uint32_t bit) const {
    return (field(d_, bit, 1) ? 16 : 8) * wide_;
  }
  [[nodiscard]] std::uint32_t simd8_at(std::uint32_t bit) const {
    return (field(d_, bit, 1) ? 8 : 16) * wide_;
  }

  Form scratch() {
    form_.kind = field(d_, 17, 1) ? Form::Kind::block_store : Form::Kind::block_load;
    form_.scratch = form_.masked_words = true;
    form_.where = older_ ? Form::Where::stateless : Form::Where::surface;
    form_.surface_kind = SurfaceKind::state;
    form_.memory_bytes = form_.register_bytes = 32;
    form_.elements = 1U << field(d_, 12, 2);
    form_.offset = std::int64_t{32} * field(d_, 0, 12);
    return form_;
  }
  Form block(Form::Kind kind, std::uint32_t unit) {
    form_.kind = kind;
    form_.block_in_header = true;
    form_.header_unit = unit;
    return read_oword_block(form_, field(d_, 8, 3)) ? form_ : unknown("a size of blocks");
  }
  Form gather(bool is_write, std::uint8_t memory, std::uint8_t in_register, std::uint32_t elements,
              std::uint32_t lanes) {
    form_.kind = is_write ? Form::Kind::store : Form::Kind::load;
    form_.memory_bytes = memory;
    form_.register_bytes = in_register;
    form_.elements = elements;
    form_.components = static_cast<std::uint8_t>((1U << elements) - 1);
    form_.lanes = lanes;
    return form_;
  }
  Form quad(bool is_write, bool is_flat) {
    if (is_flat) flat();
    const std::uint32_t mode = field(d_, 12, 2), kept = ~field(d_, 8, 4) & 15U;
    if (mode != 1 && mode != 2) return unknown("a SIMD4x2 message");
    if (kept == 0) return unknown("a message without channels");
    form_.kind = is_write ? Form::Kind::store : Form::Kind::load;
    form_.components = static_cast<std::uint8_t>(kept);
    form_.elements = static_cast<std::uint32_t>(std::popcount(kept));
    form_.lanes = mode == 1 && wide_ == 1 ? 16 : mode == 1 ? 32 : 8 * wide_;
    return form_;
  }
  Form atomic(std::uint8_t bytes, std::uint32_t number, std::uint32_t lanes) {
    if (number == kNoAtomic) return unknown("an atomic operation");
    form_.kind = Form::Kind::atomic;
    form_.atomic = static_cast<Atomic>(number);
    form_.memory_bytes = bytes;
    form_.register_bytes = bytes == 8 ? 8 : 4;
    form_.lanes = lanes;
    return form_;
  }

  std::uint32_t d_, wide_;
  bool older_;
  Form form_;
};

/// `bits` of a word from `at` on, as a signed number.
std::int64_t signed_field(std::uint32_t word, std::uint32_t at, std::uint32_t bits) {
  return static_cast<std::int32_t>(word << (32 - at - bits)) >> (32 - bits);
}

Form load_store_cache(Function function, std::uint32_t d, std::uint32_t extended, std::uint32_t lanes,
                      std::uint32_t register_bytes) {
  Form form;
  const std::uint32_t operation = field(d, 0, 6);
  if (operation == 0x1f) {
    form.kind = Form::Kind::fence;
    return form;
  }
  if (function == Function::tgm) return unknown("a message to images");
  if (function == Function::slm) {
    form.where = Form::Where::slm;
  } else {
    switch (field(d, 29, 2)) {
      case 0:
        form.where = Form::Where::flat;
        break;
      case 1:
        form.where = Form::Where::surface;
        form.surface_kind = SurfaceKind::bindless;
        form.surface = extended & ~63U;
        break;
      case 2:
        form.where = Form::Where::surface;
        form.surface_kind = SurfaceKind::state;
        form.surface = extended & ~63U;
        break;
      default:
        place_by_table(form, extended >> 24);
        form.by_table = true;
        break;
    }
  }
  // Fewer lanes take as many registers as the least that hardware knows.
  lanes = std::max(lanes, register_bytes / 4);
  const std::uint32_t address = field(d, 7, 2);
  form.address_bytes = static_cast<std::uint8_t>(1U << address);
  form.lanes = lanes;
  const bool is_plane = operation == 2 + 1 || operation == 7;
  if (!is_plane && address == 0) return unknown("a size of addresses");
  if (form.where == Form::Where::flat && address != 3 && !is_plane) form.where = Form::Where::stateless;
  constexpr std::array<std::uint8_t, 8> kMemory{1, 2, 4, 8, 1, 2, 2, 0}, kRegister{1, 2, 4, 8, 4, 4, 4, 0};
  form.memory_bytes = kMemory[field(d, 9, 3)];
  form.register_bytes = kRegister[field(d, 9, 3)];
  form.upper_half = field(d, 9, 3) == 6;
  if (form.memory_bytes == 0) return unknown("a size of data");
  constexpr std::array<std::uint32_t, 8> kVector{1, 2, 3, 4, 8, 16, 32, 64};
  form.elements = kVector[field(d, 12, 3)];
  form.components = static_cast<std::uint8_t>(form.elements >= 8 ? 0xff : (1U << form.elements) - 1);
  const bool transposed = field(d, 15, 1);
  switch (operation) {
    case 0:
      form.kind = transposed ? Form::Kind::block_load : Form::Kind::load;
      break;
    case 4:
      form.kind = transposed ? Form::Kind::block_store : Form::Kind::store;
      break;
    case 2:
    case 6:
      form.kind = operation == 2 ? Form::Kind::load : Form::Kind::store;
      form.components = static_cast<std::uint8_t>(field(d, 12, 4));
      form.elements = static_cast<std::uint32_t>(std::popcount(field(d, 12, 4)));
      if (form.elements == 0) return unknown("a message without channels");
      break;
    case 3:
    case 7:
      form.kind = operation == 3 ? Form::Kind::plane_load : Form::Kind::plane_store;
      form.transposed = transposed;
      form.vnni = operation == 3 && field(d, 7, 1);
      form.where = Form::Where::flat;
      break;
    default:
      if (operation < 0x08 || operation > 0x1a)
        return unknown("operation " + std::to_string(operation) + " of the LSC");
      if (form.elements != 1 || transposed) return unknown("an atomic operation on vectors");
      form.kind = Form::Kind::atomic;
      form.atomic = static_cast<Atomic>(operation);
      break;
  }
  if ((form.kind == Form::Kind::load || form.kind == Form::Kind::store) && form.elements > 8)
    return unknown("a vector of " + std::to_string(form.elements) + " for each lane");
  return form;
}

}  // namespace

void add_offset(Form& form, std::uint32_t bits, bool beside_register) {
  if (form.kind == Form::Kind::plane_load || form.kind == Form::Kind::plane_store) {
    form.offset_x = static_cast<std::int16_t>(signed_field(bits, 22, 10));
    form.offset_y = static_cast<std::int16_t>(signed_field(bits, 12, 10));
  } else if (form.by_table) {
    if (!beside_register) form.offset = signed_field(bits, 12, 12);
  } else if (form.where != Form::Where::surface) {
    form.offset = signed_field(bits, 12, 20);
  } else if (beside_register) {  // 17 bits in two pieces
    form.offset = signed_field(field(bits, 19, 13) << 4 | field(bits, 12, 4), 0, 17);
  }
}

Function function_of(std::string_view name) {
  if (name == "dc0") return Function::dc0;
  if (name == "dc1") return Function::dc1;
  if (name == "dcro") return Function::read_only;
  if (name == "ugm" || name == "ugml") return Function::ugm;
  if (name == "slm") return Function::slm;
  if (name == "tgm") return Function::tgm;
  if (name == "gtwy") return Function::gateway;
  if (name == "ts") return Function::spawner;
  return Function::other;
}

Form decode_message(Function function, std::uint32_t descriptor, std::uint32_t extended, bool,
                    std::uint32_t lanes, std::uint32_t register_bytes, bool older) {
  Form form;
  switch (function) {
    case Function::dc0:
      form = DataPort(descriptor, register_bytes, older).dc0();
      break;
    case Function::dc1:
      form = DataPort(descriptor, register_bytes, older).dc1();
      break;
    case Function::read_only:
      form = DataPort(descriptor, register_bytes, older).read_only();
      break;
    case Function::ugm:
    case Function::slm:
    case Function::tgm:
      form = load_store_cache(function, descriptor, extended, lanes, register_bytes);
      break;
    case Function::gateway:
      if ((descriptor & 15U) == 4)
        form.kind = Form::Kind::barrier;
      else if ((descriptor & 15U) == 0)
        form.kind = Form::Kind::end;
      else
        form = unknown("operation " + std::to_string(descriptor & 15U) + " of the gateway");
      break;
    case Function::spawner:
      form.kind = Form::Kind::end;
      break;
    default:
      form = unknown("a unit of graphics");
      break;
  }
  form.sent = field(descriptor, 25, 4);
  form.received = field(descriptor, 20, 5);
  form.sent_more = field(extended, 6, 5);
  return form;
}

}  // namespace kiln::xe
