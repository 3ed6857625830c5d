// SPDX-License-Identifier: MIT
// Of the C interface: what codes mean, and why the program behind a log failed.
#include "kiln/explain.hpp"

#include "capi/boundary.hpp"

using namespace kiln_c;

kiln_result kiln_explain_code(const char* word, kiln_meaning* meaning, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(receives(call, "meaning", meaning));
    KILN_TRY(const std::string wanted, text(call, "word", word));
    auto known = explain_code(wanted);
    if (!known)
      return tl::unexpected(
          bad_parameter(ZE_RESULT_ERROR_INVALID_ARGUMENT, call, "word",
                        "is `" + wanted + "`, which is no code that is known",
                        {"a name such as ZE_RESULT_ERROR_DEVICE_LOST, or a number such as 0x70000001"}));
    auto object = std::make_shared<MeaningObject>();
    object->meaning = *std::move(known);
    for (const std::string& each : object->meaning.causes) object->causes.push_back(each.c_str());
    for (const std::string& each : object->meaning.cures) object->cures.push_back(each.c_str());
    return give(call, std::move(object), meaning);
  });
}

kiln_result kiln_meaning_get(kiln_meaning meaning, kiln_meaning_info* info, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(const MeaningObject* object, get<MeaningObject>(call, meaning));
    kiln_meaning_info known = KILN_INIT(kiln_meaning_info);
    known.name = object->meaning.name.c_str();
    known.meaning = object->meaning.meaning.c_str();
    known.causes = object->causes.data();
    known.cures = object->cures.data();
    known.cause_count = static_cast<std::uint32_t>(object->causes.size());
    known.cure_count = static_cast<std::uint32_t>(object->cures.size());
    known.has_value = object->meaning.value.has_value();
    known.value = object->meaning.value.value_or(0);
    return write(call, "kiln_meaning_info", known, info);
  });
}

void kiln_meaning_destroy(kiln_meaning meaning) { destroy<MeaningObject>(meaning); }

kiln_result kiln_explain_log(const char* log, size_t size, kiln_findings* findings, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(receives(call, "findings", findings));
    if (!log && size != 0) return tl::unexpected(null_parameter(call, "log"));
    LogReader reader;
    std::string_view rest(log, log ? size : 0);
    while (!rest.empty()) {
      const std::size_t end = rest.find('\n');
      std::string_view line = rest.substr(0, end);
      if (line.ends_with('\r')) line.remove_suffix(1);
      reader.line(line);
      rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
    }
    auto found = std::make_shared<FindingsObject>();
    if (auto cause = reader.finding()) found->findings.push_back(finding(*std::move(cause)));
    return give(call, std::move(found), findings);
  });
}
