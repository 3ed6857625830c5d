// SPDX-License-Identifier: MIT
// JSON as values: made here, and read and written as text in json.cpp, which alone compiles the JSON library.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <list>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace kiln::detail {

/// A value of JSON; members of an object keep their order. Reentrant.
class Json {
 public:
  struct Member;
  /// Another type was asked for than there is, or a member that there is not.
  struct WrongType : std::runtime_error {
    using std::runtime_error::runtime_error;
  };

  Json();
  Json(std::nullptr_t);
  Json(std::same_as<bool> auto value) { set(value); }
  Json(std::signed_integral auto value) { set(std::int64_t{value}); }
  Json(std::unsigned_integral auto value) requires(!std::same_as<decltype(value), bool>) {
    set(std::uint64_t{value});
  }
  Json(double value);
  Json(const char* text);
  Json(std::string_view text);
  Json(std::string text);
  template <class T>
  Json(const std::vector<T>& elements) : Json(array()) {
    for (const auto& each : elements) push_back(each);
  }
  template <class T, std::size_t count>
  Json(const std::array<T, count>& elements) : Json(array()) {
    for (const auto& each : elements) push_back(each);
  }
  /// `{{"name", value}, {"other", value}}` is an object; any other list is an array.
  Json(std::initializer_list<Json> list);
  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(const Json& other);
  Json& operator=(Json&& other) noexcept;
  ~Json();

  [[nodiscard]] static Json array();
  [[nodiscard]] static Json object();
  /// Nothing: the text is no JSON, or lists in it are nested deeper than 100. Pure.
  [[nodiscard]] static std::optional<Json> parse(std::string_view text);
  /// In one line of UTF-8. What is no UTF-8 becomes U+FFFD: names come from kernel files. Pure.
  [[nodiscard]] std::string dump() const;
  /// In lines, indented by two, and in ASCII: what would do something on a terminal is escaped. Pure.
  [[nodiscard]] std::string dump_lines() const;

  [[nodiscard]] bool is_null() const;
  [[nodiscard]] bool is_object() const;
  [[nodiscard]] bool is_string() const;
  [[nodiscard]] bool is_number() const;
  [[nodiscard]] bool is_number_unsigned() const;
  /// Of elements or members; 0 for null, 1 for other values.
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] bool empty() const { return size() == 0; }

  /// The value as bool, std::string, Json or a number. Throws WrongType where it is of another type, or out
  /// of the range of T.
  template <class T>
  [[nodiscard]] T get() const {
    using Limits = std::numeric_limits<T>;
    if constexpr (std::same_as<T, Json>)
      return *this;
    else if constexpr (std::same_as<T, std::string>)
      return text();
    else if constexpr (std::same_as<T, bool>)
      return truth();
    else if constexpr (std::floating_point<T>)
      return static_cast<T>(real());
    else if constexpr (std::unsigned_integral<T>)
      return static_cast<T>(natural(Limits::max()));
    else
      return static_cast<T>(integer(Limits::min(), Limits::max()));
  }

  /// Elements of an array; of other values there are none.
  [[nodiscard]] const Json* begin() const;
  [[nodiscard]] const Json* end() const;
  /// Members of an object, each with `name` and `value`; of other values there are none.
  [[nodiscard]] const std::list<Member>& items() const;
  [[nodiscard]] const Json& back() const;

  /// Null where there is none.
  [[nodiscard]] const Json* find(std::string_view name) const;
  [[nodiscard]] bool contains(std::string_view name) const { return find(name) != nullptr; }
  /// The member, or `otherwise` where there is none.
  template <class T>
  [[nodiscard]] T value(std::string_view name, T otherwise) const {
    const Json* found = find(name);
    return found ? found->get<T>() : otherwise;
  }
  [[nodiscard]] std::string value(std::string_view name, const char* otherwise) const {
    return value(name, std::string(otherwise));
  }
  /// Throws WrongType where there is none.
  [[nodiscard]] const Json& at(std::string_view name) const;
  [[nodiscard]] const Json& at(std::size_t index) const;

  /// The null value where there is none.
  [[nodiscard]] const Json& operator[](std::string_view name) const;
  [[nodiscard]] const Json& operator[](std::integral auto index) const {
    return element(static_cast<std::size_t>(index));
  }
  /// Makes the member where there is none, of null an object. Members that come later do not move it.
  [[nodiscard]] Json& operator[](std::string_view name);
  [[nodiscard]] Json& operator[](std::integral auto index) {
    return const_cast<Json&>(at(static_cast<std::size_t>(index)));
  }
  /// Takes the member away where there is one.
  void erase(std::string_view name);
  /// Makes of null an array.
  void push_back(Json element);

  /// Numbers are equal by what they count; members also by their order.
  [[nodiscard]] friend bool operator==(const Json& a, const Json& b) { return a.equals(b); }

 private:
  using Elements = std::vector<Json>;
  using Members =
      std::list<Member>;  // which stay where they are: `a["x"] = a["y"] = 1` holds one while the other comes

  void set(bool value);
  void set(std::int64_t value);
  void set(std::uint64_t value);
  [[nodiscard]] bool truth() const;
  [[nodiscard]] const std::string& text() const;
  [[nodiscard]] double real() const;
  [[nodiscard]] std::uint64_t natural(std::uint64_t most) const;
  [[nodiscard]] std::int64_t integer(std::int64_t least, std::int64_t most) const;
  [[nodiscard]] const Json& element(std::size_t index) const;
  [[nodiscard]] bool equals(const Json& other) const;

  std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, std::string, Elements, Members>
      value_;
  friend struct JsonLibrary;
};

struct Json::Member {
  std::string name;
  Json value;
  [[nodiscard]] friend bool operator==(const Member&, const Member&) = default;
};

}  // namespace kiln::detail
