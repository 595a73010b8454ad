/* SPDX-License-Identifier: BSD-3-Clause */
#include "probe/options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/ask/question.h"
#include "probe/registry.h"
#include "probe/show/cell.h"
#include "stack/registry.h"

#define SIZES_MAX 100000

#define FAR       (1u << VV_COMMAND_FAR)
#define NEAR      (1u << VV_COMMAND_NEAR)
#define WIRE      (1u << VV_COMMAND_WIRE)
#define ENDS      (FAR | NEAR)
#define INVENTORY (1u << VV_COMMAND_INVENTORY)
#define MAP       (1u << VV_COMMAND_MAP)
#define STATIONS  (MAP | 1u << VV_COMMAND_STATION)
#define WITNESS   (1u << VV_COMMAND_WITNESS)

struct row {
  const char *name;
  const char *value;  /* how the manual calls it; NULL: a flag */
  unsigned commands;  /* those that know it */
  uint64_t low, high; /* of a number */
  int (*take)(struct vv_probe_config *config, const struct row *row, const char *value, struct vv_error *error);
  size_t offset; /* of the member that take_* sets */
  const char *help;
};

static int usage(struct vv_error *error, const char *code, const char *text, const char *subject) {
  vv_error_set(error, code, text, subject);
  return vv_error_remedy(error, "see vaiven-probe --help");
}

static void *member(struct vv_probe_config *config, const struct row *row) {
  return (char *)config + row->offset;
}

static int parse_number(const char *text, uint64_t low, uint64_t high, uint64_t *number) {
  char *end;
  errno = 0;
  uint64_t value = strtoull(text, &end, 10);
  if (*text < '0' || *text > '9' || *end || errno || value < low || value > high) return -1;
  *number = value;
  return 0;
}

static int take_number(const struct row *row, const char *value, uint64_t *number, struct vv_error *error) {
  if (parse_number(value, row->low, row->high, number) == 0) return 0;
  vv_error_set(error, "usage", "%s: \"%.60s\" is not a number from %" PRIu64 " to %" PRIu64, row->name, value, row->low,
               row->high);
  return vv_error_remedy(error, "see vaiven-probe --help");
}

static int take_u32(struct vv_probe_config *config, const struct row *row, const char *value, struct vv_error *error) {
  uint64_t number;
  if (take_number(row, value, &number, error) != 0) return -1;
  *(uint32_t *)member(config, row) = (uint32_t)number;
  return 0;
}

static int take_u64(struct vv_probe_config *config, const struct row *row, const char *value, struct vv_error *error) {
  return take_number(row, value, member(config, row), error);
}

static int take_ms(struct vv_probe_config *config, const struct row *row, const char *value, struct vv_error *error) {
  uint64_t number;
  if (take_number(row, value, &number, error) != 0) return -1;
  *(int64_t *)member(config, row) = (int64_t)number * VV_MS;
  return 0;
}

static int take_cpu(struct vv_probe_config *config, const struct row *row, const char *value, struct vv_error *error) {
  uint64_t number;
  if (take_number(row, value, &number, error) != 0) return -1;
  config->cpu = (int)number;
  return 0;
}

static int take_text(struct vv_probe_config *config, const struct row *row, const char *value, struct vv_error *error) {
  (void)error;
  *(const char **)member(config, row) = value;
  return 0;
}

static int take_flag(struct vv_probe_config *config, const struct row *row, const char *value, struct vv_error *error) {
  (void)value, (void)error;
  *(bool *)member(config, row) = true;
  return 0;
}

static int take_bind(struct vv_probe_config *config, const struct row *row, const char *value, struct vv_error *error) {
  (void)row;
  return vv_address_parse(value, 0, &config->address, error);
}

static int take_peer(struct vv_probe_config *config, const struct row *row, const char *value, struct vv_error *error) {
  (void)row;
  return vv_address_parse_pair(value, &config->address, error);
}

static int take_also(struct vv_probe_config *config, const struct row *row, const char *value, struct vv_error *error) {
  (void)row;
  if (config->also_count == VV_PROBE_ALSO_MAX) return usage(error, "usage", "%s is given too often", "--also");
  return vv_address_parse_pair(value, &config->also[config->also_count++], error);
}

static int take_port(struct vv_probe_config *config, const struct row *row, const char *value, struct vv_error *error) {
  char low_text[8];
  size_t length = strcspn(value, "-");
  uint64_t low = 0, high = 0;
  snprintf(low_text, sizeof low_text, "%.*s", (int)(length < 7 ? length : 7), value);
  int bad = parse_number(low_text, row->low, row->high, &low);
  high = low;
  if (!bad && value[length] == '-') bad = parse_number(value + length + 1, row->low, row->high, &high);
  if (bad || length > 5 || high < low)
    return usage(error, "usage", "--port: \"%.60s\" is no port or range LO-HI", value);
  config->port_min = (uint16_t)low;
  config->port_max = (uint16_t)high;
  return 0;
}

static int take_ask(struct vv_probe_config *config, const struct row *row, const char *value, struct vv_error *error) {
  (void)row;
  config->question = vv_probe_registry_find(value);
  return config->question ? 0 : usage(error, "usage", "--ask: there is no question \"%.60s\"", value);
}

static int take_sizes(struct vv_probe_config *config, const struct row *row, const char *value,
                      struct vv_error *error) {
  size_t count = 1;
  for (const char *at = value; *at; at++) count += *at == ',';
  if (count > SIZES_MAX) return usage(error, "usage", "%s: too many sizes", row->name);
  free(config->sizes);
  config->sizes = malloc(count * sizeof *config->sizes);
  char *copy = strdup(value), *rest = copy;
  int result = config->sizes && copy ? 0 : vv_error_set(error, "no-memory", "no memory for %zu sizes", count);
  config->size_count = 0;
  for (char *item; result == 0 && (item = strsep(&rest, ","));) {
    uint64_t size;
    if ((result = take_number(row, item, &size, error)) == 0) config->sizes[config->size_count++] = (size_t)size;
  }
  free(copy);
  return result;
}

/* Which word it is, or -1. */
static int find_word(const struct row *row, const char *const words[], const char *value, struct vv_error *error) {
  for (int i = 0; words[i]; i++) {
    if (strcmp(words[i], value) == 0) return i;
  }
  vv_error_set(error, "usage", "%s: \"%.60s\" is not one of %s", row->name, value, row->value);
  return vv_error_remedy(error, "see vaiven-probe --help");
}

static int take_write(struct vv_probe_config *config, const struct row *row, const char *value,
                      struct vv_error *error) {
  int index = find_word(row, vv_probe_config_write, value, error);
  if (index >= 0) config->write = (enum vv_write)index;
  return index >= 0 ? 0 : -1;
}

static int take_wait(struct vv_probe_config *config, const struct row *row, const char *value, struct vv_error *error) {
  int index = find_word(row, vv_probe_config_wait, value, error);
  if (index >= 0) config->wait = (enum vv_wait)index;
  return index >= 0 ? 0 : -1;
}

static int take_acks(struct vv_probe_config *config, const struct row *row, const char *value, struct vv_error *error) {
  int index = find_word(row, vv_probe_config_acks, value, error);
  if (index >= 0) config->acks = (enum vv_acks)index;
  return index >= 0 ? 0 : -1;
}

static int take_buffers(struct vv_probe_config *config, const struct row *row, const char *value,
                        struct vv_error *error) {
  int index = find_word(row, vv_probe_config_buffers, value, error);
  if (index >= 0) config->buffers = (enum vv_probe_buffers)index;
  return index >= 0 ? 0 : -1;
}

static int take_to(struct vv_probe_config *config, const struct row *row, const char *value, struct vv_error *error) {
  int index = find_word(row, vv_probe_config_to, value, error);
  if (index >= 0) config->to = (enum vv_to)index;
  return index >= 0 ? 0 : -1;
}

#define AT(member_name) offsetof(struct vv_probe_config, member_name)

static const struct row rows[] = {
    {"--bind", "ADDR", FAR, 0, 0, take_bind, 0, "own address to listen on and to answer from"},
    {"--peer", "ADDR:PORT", NEAR, 0, 0, take_peer, 0,
     "the far end, as its \"ready\" says; [ADDR]:PORT for IPv6; a port is not needed where the kernel answers (icmp)"},
    {"--port", "N|LO-HI", ENDS, 1, 65535, take_port, 0, "ports that may be used (any)"},
    {"--iface", "IF", ENDS | STATIONS, 0, 0, take_text, AT(iface), "interface, for stacks that need one (eth, llc)"},
    {"--sap", "N", ENDS | STATIONS, 4, 252, take_u32, AT(sap),
     "LLC: own service access point, a multiple of 4 that no standard took (any)"},
    {"--key-stdin", NULL, ENDS, 0, 0, take_flag, AT(key_stdin),
     "the launch key is the first line of standard input, whose end is the end of the launch"},
    {"--key-file", "FILE", ENDS, 0, 0, take_text, AT(key_file),
     "the launch key is in that file: 32 hex digits (far without a key makes one)"},
    {"--ask", "QUESTION", NEAR, 0, 0, take_ask, 0, "what is asked, see below (the first one)"},
    {"--sizes", "N,N,...", NEAR | WIRE, 0, VV_PROBE_SIZE_BYTES_MAX, take_sizes, 0,
     "payload bytes, measured in this order"},
    {"--samples", "N", NEAR, 1, VV_PROBE_SAMPLES_MAX, take_u32, AT(samples), "exchanges to time of each size (1000)"},
    {"--samples-min", "N", NEAR, 1, VV_PROBE_SAMPLES_MAX, take_u32, AT(samples_min),
     "exchanges of each size at least, even when its time is up (1)"},
    {"--cell-ms", "T", NEAR, 1, 86400000, take_ms, AT(cell_ns), "time for each size, warm-up included (2000)"},
    {"--timeout-ms", "T", ENDS | MAP, 1, 3600000, take_ms, AT(timeout_ns),
     "a message is lost after that and what its size takes at 10 Mb/s; map: how long to wait for answers (1000)"},
    {"--train", "N", NEAR, 1, 100000, take_u32, AT(train), "messages of a train: oneway (1), prtt (10)"},
    {"--segment", NULL, NEAR, 0, 0, take_flag, AT(segment),
     "oneway over udp: let the kernel cut the train (UDP_SEGMENT)"},
    {"--also", "ADDR:PORT", NEAR, 0, 0, take_also, 0,
     "one more far end: of fanout, stream, exchange, pingpongs; of oneway, whose trains then go to all by broadcast"},
    {"--cap-bps", "R", NEAR, 1, 1000000000000000, take_u64, AT(cap_bps),
     "fanout, stream, exchange: on average their payload is no more than that (as it comes)"},
    {"--one-clock", NULL, NEAR, 0, 0, take_flag, AT(one_clock),
     "all hosts share one clock, as those of a lab do: times of two hosts can be compared"},
    {"--to", "broadcast|multicast|each", ENDS, 0, 0, take_to, 0, "raw: how a fanout reaches the far ends (broadcast)"},
    {"--write", "one|split|writev", ENDS, 0, 0, take_write, 0, "how a message is handed to the system (one)"},
    {"--wait", "block|spin", ENDS, 0, 0, take_wait, 0, "how an end waits (block)"},
    {"--acks", "kernel|quick|delayed", ENDS, 0, 0, take_acks, 0,
     "tcp: when what came is acknowledged: as the kernel likes, at once, or later, with an answer (kernel)"},
    {"--buffers", "hot|cold", ENDS, 0, 0, take_buffers, 0, "one buffer, or a ring twice the last-level cache (hot)"},
    {"--idle-ms", "N", ENDS, 0, 3600000, take_ms, AT(idle_ns), "pause before each exchange (0)"},
    {"--idle-wire", NULL, NEAR, 0, 0, take_flag, AT(idle_wire),
     "pingpong: pause before each exchange as long as --mtu, --rate-bps and --hops say that it is on the wire"},
    {"--cpu", "N", ENDS | WITNESS, 0, 1023, take_cpu, 0, "run on that CPU only"},
    {"--mtu", "M", NEAR | WIRE, 68, 65536, take_u32, AT(mtu_bytes), "MTU of the path: cells carry what the wire takes"},
    {"--rate-bps", "R", NEAR | WIRE, 1, 1000000000000000, take_u64, AT(rate_bps), "rate of its links"},
    {"--hops", "H", NEAR | WIRE, 1, 64, take_u32, AT(hops), "links in a row: 1 through a hub, 2 through a switch"},
    {"--null", "PROGRAM", NEAR, 0, 0, take_text, AT(program), "null: what it shall do, alpha_ns=N,beta_ns=F,..."},
    {"--root", "DIR", INVENTORY, 0, 0, take_text, AT(root),
     "inventory: read the copy of a machine's /proc and /sys below DIR"},
};

#define ROWS (sizeof rows / sizeof rows[0])

static const struct row *find_row(const char *name) {
  for (size_t i = 0; i < ROWS; i++) {
    if (strcmp(rows[i].name, name) == 0) return &rows[i];
  }
  return NULL;
}

/* One option at argv[*at], which moves behind it. */
static int take_option(struct vv_probe_config *config, int argc, char **argv, int *at, struct vv_error *error) {
  const struct row *row = find_row(argv[*at]);
  if (!row) return usage(error, "usage", "there is no option \"%.60s\"", argv[*at]);
  if (!(row->commands >> config->command & 1)) {
    return usage(error, "usage", "%s means nothing to this command", row->name);
  }
  ++*at;
  if (!row->value) return row->take(config, row, NULL, error);
  if (*at == argc) return usage(error, "usage", "%s needs a value", row->name);
  return row->take(config, row, argv[(*at)++], error);
}

static int check_sizes(const struct vv_probe_config *config, struct vv_error *error) {
  const struct vv_stack *stack = config->stack;
  if (config->size_count == 0) return usage(error, "usage", "%s: --sizes is missing", stack->id);
  for (size_t i = 0; i < config->size_count; i++) {
    size_t size_bytes = config->sizes[i];
    if (size_bytes >= stack->size_bytes_min && size_bytes <= stack->size_bytes_max) continue;
    vv_error_set(error, "size-limit", "%s cannot carry a message of %zu bytes: its limits are %zu and %zu", stack->id,
                 size_bytes, stack->size_bytes_min, stack->size_bytes_max);
    return vv_error_remedy(error, "leave that size out, or choose another stack");
  }
  return 0;
}

static int check_ends(const struct vv_probe_config *config, struct vv_error *error) {
  if (config->command == VV_COMMAND_FAR && config->stack->alone) {
    return usage(error, "usage", "%s has no far end", config->stack->id);
  }
  bool placeless = config->stack->alone || (config->stack->ranked && config->command == VV_COMMAND_NEAR);
  if (!placeless && config->address.length == 0) {
    return usage(error, "usage", "%s is missing", config->command == VV_COMMAND_FAR ? "--bind" : "--peer");
  }
  bool port_needed = config->command == VV_COMMAND_NEAR && !placeless && !config->stack->kernel_echo;
  if (port_needed && vv_address_port(&config->address) == 0) {
    return usage(error, "usage", "%s has no port", "--peer");
  }
  if (config->write == VV_WRITE_SPLIT && !config->stack->two_writes) {
    return usage(error, "usage", "--write split would make two messages of one on %s", config->stack->id);
  }
  if (config->acks != VV_ACKS_KERNEL && !config->stack->own_tcp) {
    return usage(error, "usage", "--acks means nothing to %s", config->stack->id);
  }
  if (config->to != VV_TO_BROADCAST && !config->stack->to_all) {
    return usage(error, "usage", "--to means nothing to %s", config->stack->id);
  }
  if (config->key_stdin && config->key_file)
    return usage(error, "usage", "%s", "--key-stdin and --key-file exclude each other");
  return 0;
}

static int check_near(struct vv_probe_config *config, struct vv_error *error) {
  if (!config->question) config->question = vv_probe_registry[0];
  /* Datagrams to all have no way back; a group has. */
  if (config->stack->to_all && config->stack->datagram && !config->question->unanswered) {
    return usage(error, "usage", "%s answers only --ask fanout", config->stack->id);
  }
  if (config->idle_wire && (config->question != vv_probe_registry[0] || vv_cell_wire_ns(config, 1, 1) == 0))
    return usage(error, "usage", "--idle-wire wants %s", "pingpong, --mtu, --rate-bps and --hops");
  if (config->train == 0) config->train = config->question->train;
  config->steps = config->question->steps;
  if (config->question->check && config->question->check(config, error) != 0) return -1;
  return config->question->sizeless ? 0 : check_sizes(config, error);
}

static int check(struct vv_probe_config *config, struct vv_error *error) {
  if (config->command == VV_COMMAND_WIRE) {
    if (config->mtu_bytes == 0) return usage(error, "usage", "%s is missing", "--mtu");
    return check_sizes(config, error);
  }
  if (config->command != VV_COMMAND_FAR && config->command != VV_COMMAND_NEAR) return 0;
  if (check_ends(config, error) != 0) return -1;
  if (config->stack->spins) config->wait = VV_WAIT_SPIN;
  return config->command == VV_COMMAND_NEAR ? check_near(config, error) : 0;
}

static int take_command(struct vv_probe_config *config, const char *word, struct vv_error *error) {
  static const char *const words[] = {"--help",    "--version", "far", "near",    "wire",
                                      "inventory", "stacks",    "map", "station", "witness"};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    if (strcmp(word, words[i]) != 0) continue;
    config->command = (enum vv_command)i;
    return 0;
  }
  return usage(error, "usage", "there is no command \"%.60s\"", word);
}

static int take_stack(struct vv_probe_config *config, const char *id, struct vv_error *error) {
  config->stack = vv_stack_registry_find(id);
  if (config->stack) return 0;
  vv_error_set(error, "unknown-stack", "there is no stack \"%.60s\"", id);
  return vv_error_remedy(error, "`vaiven-probe stacks` lists those there are");
}

int vv_options_parse(struct vv_probe_config *config, int argc, char **argv, struct vv_error *error) {
  *config = (struct vv_probe_config){
      .cpu = -1, .samples = 1000, .samples_min = 1, .cell_ns = 2000 * VV_MS, .timeout_ns = 1000 * VV_MS};
  if (argc < 2) return usage(error, "usage", "%s is missing", "a command");
  if (take_command(config, argv[1], error) != 0) return -1;
  int at = 2;
  if ((FAR | NEAR | WIRE) >> config->command & 1) {
    if (argc < 3) return usage(error, "usage", "%s: a stack is missing", argv[1]);
    if (take_stack(config, argv[at++], error) != 0) return -1;
  }
  while (at < argc) {
    if (take_option(config, argc, argv, &at, error) != 0) return -1;
  }
  return check(config, error);
}

void vv_options_free(struct vv_probe_config *config) {
  free(config->sizes);
  config->sizes = NULL;
}

void vv_options_help(void) {
  puts("vaiven-probe: what a message costs between two hosts. Prints JSON Lines.\n\n"
       "  vaiven-probe far STACK --bind ADDR [options]          answers one near end, then ends\n"
       "  vaiven-probe near STACK --peer ADDR:PORT --sizes N,N,... [options]   asks and keeps the clock\n"
       "  vaiven-probe wire STACK --mtu M --sizes N,N,...       what those messages become on the wire\n"
       "  vaiven-probe inventory                                this host\n"
       "  vaiven-probe stacks                                   the stacks, their limits and needs\n"
       "  vaiven-probe map --iface IF                           who answers LLC on that Ethernet: MAC, SAP\n"
       "  vaiven-probe station --iface IF                       answers such questions until standard input ends\n"
       "  vaiven-probe witness --cpu N                          whether that CPU was there: says so for each line\n"
       "  vaiven-probe --version | --help\n\nOptions (in parentheses what holds without them):");
  for (size_t i = 0; i < ROWS; i++) {
    char head[64];
    snprintf(head, sizeof head, "%s %s", rows[i].name, rows[i].value ? rows[i].value : "");
    printf("  %-31s %s\n", head, rows[i].help);
  }
  printf("\nQuestions:");
  for (const struct vv_question *const *question = vv_probe_registry; *question; question++)
    printf(" %s", (*question)->id);
  puts("\n\nBoth ends must be given the same --write, --wait, --acks, --buffers, --to and --idle-ms.\n"
       "Exit status: 0; 1 with an \"error\" record last; 2 for wrong usage.");
}
