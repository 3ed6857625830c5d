// SPDX-License-Identifier: MIT
// Of the C interface: where the memory went.
#include "capi/boundary.hpp"
#include "memory/view.hpp"

namespace kiln_c {
namespace {

Result<MemoryRequest> memory_request(const char* call, const kiln_memory_request& given) {
  if (given.kind > KILN_MEMORY_SHARED) return tl::unexpected(unknown_bits(call, "kind", given.kind));
  if (given.known & ~(KILN_KNOWN_TOTAL | KILN_KNOWN_FREE))
    return tl::unexpected(unknown_bits(call, "known", given.known));
  if (given.integrated > KILN_INTEGRATED_YES)
    return tl::unexpected(unknown_bits(call, "integrated", given.integrated));
  MemoryRequest request;
  request.kind = given.kind == KILN_MEMORY_DEVICE ? MemoryKind::device
                 : given.kind == KILN_MEMORY_HOST ? MemoryKind::host
                                                  : MemoryKind::shared;
  request.size = given.size;
  KILN_TRY(request.card, optional_text(call, "card", given.card));
  request.largest = given.largest;
  if (given.known & KILN_KNOWN_TOTAL) request.total = given.total;
  if (given.known & KILN_KNOWN_FREE) request.free = given.free;
  if (given.integrated) request.integrated = given.integrated == KILN_INTEGRATED_YES;
  return request;
}

std::optional<std::uint64_t> left_in_groups(const MemoryAccount& account) {
  std::optional<std::uint64_t> least;
  for (const MemoryGroup& group : account.groups)
    if (const auto left = group.left()) least = std::min(least.value_or(*left), *left);
  return least;
}

}  // namespace
}  // namespace kiln_c

using namespace kiln_c;

kiln_result kiln_account_take(const kiln_account_options* options, kiln_account* account, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(receives(call, "account", account));
    MemoryAccountOptions where;
    if (options) {
      Input<kiln_account_options> input;
      KILN_TRY(Input<kiln_account_options>::read(call, "kiln_account_options", options, input));
      KILN_TRY(where.root, optional_text(call, "root", input->root));
      where.process = input->process;
    }
    auto object = std::make_shared<AccountObject>();
    object->account = memory_account(where);
    object->json = to_json(object->account);
    return give(call, std::move(object), account);
  });
}

kiln_result kiln_account_get(kiln_account account, kiln_account_info* info, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(const AccountObject* object, get<AccountObject>(call, account));
    const MemoryAccount& known = object->account;
    kiln_account_info told = KILN_INIT(kiln_account_info);
    told.json = object->json.c_str();
    told.host_total = known.host.total;
    told.host_available = known.host.available;
    told.swap_free = known.host.swap_free;
    const auto left = left_in_groups(known);
    told.has_group_limit = left.has_value();
    told.group_left = left.value_or(0);
    told.own_device = known.own.device.bytes;
    told.own_host = known.own.host.bytes;
    told.own_shared = known.own.shared.bytes;
    told.unread_processes = known.unread_processes;
    told.process = known.process;
    told.process_found = known.process_found;
    told.hides_processes = known.hides_processes;
    told.cards = static_cast<std::uint32_t>(known.cards.size());
    return write(call, "kiln_account_info", told, info);
  });
}

kiln_result kiln_account_card(kiln_account account, uint32_t index, kiln_card_info* info, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(const AccountObject* object, get<AccountObject>(call, account));
    const MemoryAccount& known = object->account;
    if (index >= known.cards.size())
      return tl::unexpected(out_of_range(call, "index", index, known.cards.size()));
    const MemoryCard& card = known.cards[index];
    kiln_card_info told = KILN_INIT(kiln_card_info);
    told.address = card.address.c_str();
    told.driver = card.driver.c_str();
    told.total = card.total.value_or(0);
    told.free = card.free.value_or(0);
    told.window = card.window;
    MemoryRequest of;
    of.card = card.address;
    const kiln::detail::MemoryView view(known, of);
    told.own = view.own;
    told.others = view.others_sum;
    told.device_id = card.device;
    told.known =
        (card.total ? std::uint32_t{KILN_KNOWN_TOTAL} : 0) | (card.free ? std::uint32_t{KILN_KNOWN_FREE} : 0);
    return write(call, "kiln_card_info", told, info);
  });
}

kiln_result kiln_account_causes(kiln_account account, const kiln_memory_request* request,
                                kiln_findings* findings, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(receives(call, "findings", findings));
    KILN_TRY(const AccountObject* object, get<AccountObject>(call, account));
    MemoryRequest asked;
    if (request) {
      Input<kiln_memory_request> input;
      KILN_TRY(Input<kiln_memory_request>::read(call, "kiln_memory_request", request, input));
      KILN_TRY(asked, memory_request(call, *input.operator->()));
    }
    auto found = std::make_shared<FindingsObject>();
    for (Diagnostic& cause : memory_causes(object->account, asked))
      found->findings.push_back(finding(std::move(cause)));
    return give(call, std::move(found), findings);
  });
}

void kiln_account_destroy(kiln_account account) { destroy<AccountObject>(account); }
