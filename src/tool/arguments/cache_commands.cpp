// SPDX-License-Identifier: MIT
// The options of `kiln cache` and its commands.
#include <memory>

#include "tool/arguments/options.hpp"
#include "tool/cache/command.hpp"

namespace kiln::tool {
namespace {

constexpr const char* kCacheFooter = R"(
Entries are named by keys, 64 digits; the first few are enough where they are unique. `kiln cache COMMAND --help` says more.

Exit status: 0 right, 1 something is damaged, unusable, refused or not there, or the output is lost, 2 usage, 4 no device,
5 the folder or a file cannot be used, or the cache keeps nothing.

Environment:
  KILN_CACHE              off, read or on: what programs do, and explain FILE, warm, import
  KILN_CACHE_DIR          the folder, where --folder is not given
  KILN_CACHE_MAX_SIZE     bytes on disk, or with K, M, G behind (1G)
  KILN_CACHE_KEEP_INPUTS  bytes for what is compiled, which `rewarm` compiles again (0)
  KILN_CACHE_READ_ONLY    folders that are looked into before, with colons between them
  KILN_CACHE_REMOTE       stores of several machines, with spaces between them: docs/fleet.md
  KILN_CACHE_TRUST        the list of keys that `trust` writes)";

constexpr const char* kStatsFooter = R"(
Not used, the reason: KILN_CACHE is off or read, KILN_CACHE_MAX_SIZE is 0, or the folder cannot be used or written to.
Bypassed with Intel's driver or the CPU device: a variable asks for what a hit would not do, or names code that no key
has. No driver is loaded for it, so its settings files are not looked at: `kiln cache explain FILE` does.
With --fleet each store of KILN_CACHE_REMOTE is asked once; of a Redis its memory, hits and misses are shown too.
Unusable is what lies at the place of an entry and is none, or not this user's alone: `kiln cache verify` names it.

Exit status: 0, or 5 when the folder cannot be used or written to.)";

constexpr const char* kListFooter = R"(
Columns of the table, the last used first:
  KIND      binary, failure (the compiler refused the input; remembered for a while), crash (its process ended),
            damaged, or unreadable (no rights, or a disk that does not answer)
  DEVICE    the product, or the IP version or device ID
  COMPILER  the library and the start of its build-id
  USED      how long ago, right within an hour)";

constexpr const char* kVerifyFooter = R"(
Each entry is read whole: its checksum must be right, and its name the key of what it says it was made of. Unreadable are
those that the system does not let this user read. Unusable is what else lies at the place of an entry: a link, a FIFO, a
folder, a file of others or one that others may write to, and a folder of entries that is such a thing.
--remove removes them all, folders with what is in them, through no link; an entry on a failing disk stays.

Exit status: 0 all are whole, 1 something is damaged, unreadable or unusable, 5 the folder cannot be used.)";

constexpr const char* kClearFooter = R"(
What was set aside or is unusable (`kiln cache verify --help`) goes too, folders with what is in them, through no link. Files
whose names are not Kiln's stay.

Exit status: 0 all is gone, 1 something could not be removed, 5 the folder cannot be used.)";

constexpr const char* kCacheExplainFooter = R"(
  KEY   all that is known of that entry: what shaped it, its kernels, the compiler's log.
  FILE  whether a load of that SPIR-V, or of a fat binary's, on the device with these options would find an entry; where
        not, why: the cache is off, the entry is damaged, not this user's alone or a failure too long ago; or what tells
        the nearest entry apart from it, such as `library.libigc.so.1: 3d1eb51d… became 9af0c1d2…`. After a miss each
        store of KILN_CACHE_REMOTE is asked, and what it has is checked as a load would.
With --link the files are one module, as Bundle::link makes it; options and constants are those of each file.

Exit status: 0 an entry, or a hit; 1 a miss; 2 neither a key nor a file; 4 no device; 5 a file that cannot be read, or a
folder that cannot be used.)";

constexpr const char* kOptionsHelp = "OpenCL build options: --options=-cl-fast-relaxed-math";
constexpr const char* kConstantHelp =
    "ID=VALUE of a specialization constant, its bits as a decimal or 0x number; several times";

constexpr const char* kWarmFooter = R"(
A program finds what is compiled here when device, driver, compiler, options, constants and the environment that shapes
code are the same. Each file is a module; with --link all are one, in this order, as Bundle::link makes it.

Exit status: 0 all were there or are kept now, else that of the last file that failed: 5 it cannot be read (regular files
alone are) or built, or what was compiled is not kept: the cache is too small, or a variable keeps it from being used.)";

constexpr const char* kRewarmFooter = R"(
After an update of driver or compiler every entry has another key, and the next program compiles. This compiles before: each
native binary of the folder, the last used first, from the SPIR-V or OpenCL C that it was made of, with the same options. These
are kept beside the entries where KILN_CACHE_KEEP_INPUTS gives room for them (bytes, or with K, M, G behind; in a program
CacheOptions::keep_inputs), at the time of the first compilation. With KILN_CACHE_REMOTE the stores are asked before, and get
what is compiled.

Exit status: 0 all were there or are kept now, 1 the inputs of some are not kept, 2 there is no folder, 4 no device, 5 something
does not compile any more or is not kept, or the folder cannot be used.)";

constexpr const char* kImportFooter = R"(
Import only from people whom you trust: what is imported is machine code, and will be executed. Each entry is checked for
damage and for its name; whether its code does what its name says, nothing can tell. Entries that are there already are
kept. Whatever is wrong is refused, said, and written nowhere. Above KILN_CACHE_MAX_SIZE the longest unused entries go.

Exit status: 0 all are there now, 1 some were refused or had to go for the size, 5 the archive or the folder cannot be used,
or KILN_CACHE is off or read.)";

constexpr const char* kKeygenFooter = R"(
The file is for its owner alone, and is never written over: whoever has it can sign what others will run. What is printed is
the public key, which is what others trust: `kiln cache trust add KEY`. `openssl genpkey -algorithm ed25519` makes the same.)";

constexpr const char* kTrustFooter = R"(
list     whom this user trusts, and the machine: /etc/kiln/trusted-keys
add      entries of stores, archives and folders count that this key signed
remove   all lines of that key go
revoke   what it signed counts no more, or what it signed before or since a date; also what is in folders already
KILN_CACHE_TRUST names another file than ~/.config/kiln/trusted-keys. Whoever has a key writes any date into what he signs: a
stolen key is revoked as a whole.)";

constexpr const char* kSignFooter = R"(
Each native binary gets a seal behind it, in its place. So a folder can be read only where it is signed
(KILN_CACHE_READ_ONLY=/FOLDER,signed), and an archive of it (`kiln cache export`) imported with --signed.)";

constexpr const char* kProducts = "PRODUCT,...";

constexpr const char* kPushFooter = R"(
What is not signed is signed with KILN_CACHE_SIGNING_KEY. What a store has and would not be used, since it is damaged or signed
by somebody whom this user does not trust, is replaced. Products are those of `kiln cache list`: tgllp, dg2, pvc.

Exit status: 0 all stores have all, 1 something was refused, 5 the folder cannot be used or no store is named.)";

constexpr const char* kPullFooter = R"(
Every entry is checked as a load checks it: what does not count is refused and said. A Redis is asked for all keys that it has,
other stores only for those of --keys: `kiln cache list --json` of a machine that is warm names some. With --for an entry is
looked at before it is left out.

Exit status: 0 all is there, 1 something was refused, 5 the folder cannot be used, no store is named, or KILN_CACHE is off or
read.)";

}  // namespace

void define_cache(CLI::App& app, Action& action) {
  CLI::App* cache =
      app.add_subcommand("cache", "Look into the kernel cache, check it, keep it small, share it");
  const auto options = std::make_shared<CacheCommand>();
  cache->footer(kCacheFooter);
  cache->require_subcommand(1);
  const auto add = [&](const char* name, const char* summary, int (*run)(const CacheCommand&)) {
    CLI::App* one = cache->add_subcommand(name, summary);
    add_text(*one, "--folder", options->folder, kFolder, "The folder of the cache")->check(needs_a_value);
    add_json(*one, options->json);
    one->callback([&action, options, run] {
      options->run = run;
      action = [options] { return options->run(*options); };
    });
    return one;
  };
  const auto add_build_options = [&](CLI::App& one) {
    add_text(one, "--device", options->device, kDevice, kDeviceHelp);
    add_text(one, "--options", options->flags, kBuildOptions, kOptionsHelp);
    add_texts(one, "--constant", options->constants, "ID=VALUE", kConstantHelp)->allow_extra_args(false);
    add_flag(one, "--link", options->link, "The files are linked into one module, in this order");
  };
  CLI::App* stats = add("stats", "Show the folder, what is in it, and why it is not used", cache_stats);
  stats->footer(kStatsFooter);
  add_flag(*stats, "--fleet", options->fleet, "The stores of several machines instead");
  add_flag(*stats, "--prometheus", options->prometheus,
           "The folder and the stores as metrics in Prometheus' text format");
  add("list", "List the entries", cache_list)->footer(kListFooter);

  CLI::App* verify = add("verify", "Read every entry, and name what is damaged or none", cache_verify);
  verify->footer(kVerifyFooter);
  add_flag(*verify, "--remove", options->remove, "Remove what is found");

  CLI::App* explain =
      add("explain", "Say what shaped an entry, or why there is none for a file", cache_explain);
  explain->footer(kCacheExplainFooter);
  add_texts(*explain, "what", options->files, "KEY|FILE",
            "The first digits of a key, or a SPIR-V file; with --link, several")
      ->required();
  add_build_options(*explain);

  CLI::App* prune =
      add("prune", "Remove what was not used for long, and what dead processes left", cache_prune);
  add_text(*prune, "--max-size", options->max_size, "SIZE",
           "Bytes to keep at most, or with K, M, G behind; without any option: KILN_CACHE_MAX_SIZE")
      ->check(needs_a_value);
  add_text(*prune, "--older-than", options->older_than, "AGE",
           "Remove what was last used so long ago: 30d, 12h, 90m")
      ->check(needs_a_value);

  add("clear", "Remove all entries, without asking", cache_clear)->footer(kClearFooter);

  CLI::App* warm = add("warm", "Compile files for a device, and keep the result", cache_warm);
  warm->footer(kWarmFooter);
  add_texts(*warm, "files", options->files, kFile, "SPIR-V files, regular ones")->required();
  add_build_options(*warm);

  CLI::App* rewarm = add("rewarm", "Compile what is used for the driver and compiler of now", cache_rewarm);
  rewarm->footer(kRewarmFooter);
  add_text(*rewarm, "--device", options->device, kDevice, kDeviceHelp);
  add_text(*rewarm, "--for", options->products, kProducts,
           "What was compiled for these products; without it, for that of the device");
  add_whole(*rewarm, "--limit", options->limit, {1, 1'000'000}, "Compile at most so many modules");
  add_flag(*rewarm, "--dry-run", options->dry_run, "Say what would be compiled, and compile nothing");

  CLI::App* write =
      add("export", "Write native binaries with all that shaped them to one file", cache_export);
  add_text(*write, "archive", options->archive, kFile, "The file to write")->required();
  add_texts(*write, "keys", options->keys, "KEY",
            "The first digits of keys; all native binaries when there are none")
      ->check(needs_a_value);

  add_flag(*write, "--oci", options->oci, "Write an image in OCI's layout: the archive is a new folder");
  add_text(*write, "--for", options->products, kProducts, "With --oci: of these products alone");

  CLI::App* push =
      add("push", "Give the folder's native binaries to the stores of KILN_CACHE_REMOTE", cache_push);
  push->footer(kPushFooter);
  add_text(*push, "--for", options->products, kProducts, "Of these products alone");
  add_flag(*push, "--replace", options->replace, "Also where a store has one that would be used");

  CLI::App* pull =
      add("pull", "Take native binaries from the stores of KILN_CACHE_REMOTE into the folder", cache_pull);
  pull->footer(kPullFooter);
  add_text(*pull, "--for", options->products, kProducts, "Of these products alone");
  add_text(*pull, "--keys", options->archive, kFile, "Keys to take, one a line; `-`: from standard input");

  CLI::App* read = add("import", "Take entries from a file that export wrote", cache_import);
  read->footer(kImportFooter);
  add_text(*read, "archive", options->archive, kFile, "The file to read")->required();
  add_flag(*read, "--signed", options->only_signed, "Take only what a trusted key signed");

  CLI::App* keygen = add("keygen", "Make a key that signs entries, and print its public part", cache_keygen);
  keygen->footer(kKeygenFooter);
  add_text(*keygen, "file", options->archive, kFile, "The private key, a new file")->required();

  CLI::App* trust = add("trust", "Say whose signatures count", cache_trust);
  trust->footer(kTrustFooter);
  add_text(*trust, "action", options->trust_action, "ACTION", "list, add, remove or revoke")
      ->check(CLI::IsMember({"list", "add", "remove", "revoke"}));
  add_text(*trust, "key", options->trust_key, "KEY", "The public key, 64 digits");
  add_text(*trust, "name", options->trust_name, "NAME", "What you call it");
  add_text(*trust, "--before", options->before, "DATE", "Revoke only what was signed before: 2026-11-24");
  add_text(*trust, "--since", options->since, "DATE", "Revoke only what was signed then or later");

  CLI::App* sign = add("sign", "Sign the native binaries of a folder", cache_sign);
  sign->footer(kSignFooter);
  add_text(*sign, "--key", options->archive, kFile, "The private key; else KILN_CACHE_SIGNING_KEY names it");
}

}  // namespace kiln::tool
