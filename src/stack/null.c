/* SPDX-License-Identifier: BSD-3-Clause */
#include "stack/null.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/rng.h"
#include "stack/stack.h"

#define WAIT_NS VV_MS /* how far the clock moves between two questions whether to give up */
#define BACK_NS VV_MS

/* The clock and the chances outlive an end: a launch that opens a new one after a loss goes on, it does not repeat. */
static struct {
  bool begun;
  struct vv_null_program program;
  struct vv_rng rng;
  vv_ns now_ns;
  vv_ns sent_ns;   /* when the last message left */
  vv_ns free_ns;   /* when the path takes the next one */
  int64_t count;   /* round trips so far */
  double factor;   /* 1 + launch */
  double start_ns; /* alpha_ns * start */
} world;

struct vv_end {
  struct vv_watch_stop stop;
  uint8_t *under_way; /* the message that was sent; size_bytes_max */
  uint8_t *stale;     /* the answer that comes late; size_bytes_max */
  size_t stale_bytes; /* SIZE_MAX: none */
  bool decided;       /* the fate of the message under way is known */
  bool lost;
};

static int bad_program(const char *item, struct vv_error *error) {
  vv_error_set(error, "usage", "--null: \"%.80s\" is not understood", item);
  return vv_error_remedy(error,
                         "give alpha_ns=N,beta_ns=F,knee=SIZE:NS[:F],o_s=N,o_r=N,g=N,G=F,noise=F,launch=F,start=F,"
                         "warm=N:NS,loss=P,late=P,corrupt=P,resolution_ns=N,back=N,seed=N");
}

/* A number from `low` up at *text, which moves behind it. 0, or -1. */
static int take_number(const char **text, double low, double *value) {
  char *end;
  *value = strtod(*text, &end);
  bool sound = end != *text && isfinite(*value) && *value >= low && fabs(*value) < 9e15;
  *text = end;
  return sound ? 0 : -1;
}

/* "N:N" or "N:N:F"; the third is 0 when it is not there. */
static int take_parts(const char *text, int64_t *first, int64_t *second, double *third) {
  double a, b, c = 0;
  if (take_number(&text, 0, &a) != 0 || *text++ != ':' || take_number(&text, -9e15, &b) != 0) return -1;
  if (third && *text == ':') {
    text++;
    if (take_number(&text, -9e15, &c) != 0) return -1;
  }
  if (*text) return -1;
  *first = llround(a);
  *second = llround(b);
  if (third) *third = c;
  return 0;
}

static int parse_knee(struct vv_null_program *program, const char *value) {
  if (program->knee_count == VV_NULL_KNEES_MAX) return -1;
  size_t i = program->knee_count++;
  return take_parts(value, &program->knees[i].above_bytes, &program->knees[i].jump_ns, &program->knees[i].beta_ns);
}

static int parse_scalar(struct vv_null_program *program, const char *name, const char *value) {
  const struct {
    const char *name;
    double *real;
    int64_t *whole;
    double high;
  } scalars[] = {
      {"alpha_ns", NULL, &program->alpha_ns, 1e15},
      {"beta_ns", &program->beta_ns, NULL, 1e9},
      {"o_s", NULL, &program->o_s_ns, 1e15},
      {"o_r", NULL, &program->o_r_ns, 1e15},
      {"g", NULL, &program->gap_ns, 1e15},
      {"G", &program->gap_byte_ns, NULL, 1e9},
      {"noise", &program->noise, NULL, 1e3},
      {"launch", &program->launch, NULL, 0.9},
      {"start", &program->start, NULL, 0.9},
      {"loss", &program->loss, NULL, 1},
      {"late", &program->late, NULL, 1},
      {"corrupt", &program->corrupt, NULL, 1},
      {"resolution_ns", NULL, &program->resolution_ns, 1e9},
      {"back", NULL, &program->back, 9e15},
      {"seed", NULL, &program->seed, 9e15},
  };
  for (size_t i = 0; i < sizeof scalars / sizeof scalars[0]; i++) {
    double number;
    if (strcmp(name, scalars[i].name) != 0) continue;
    if (take_number(&value, 0, &number) != 0 || *value || number > scalars[i].high) return -1;
    if (scalars[i].real)
      *scalars[i].real = number;
    else
      *scalars[i].whole = llround(number);
    return 0;
  }
  return -1;
}

static int parse_item(struct vv_null_program *program, char *item) {
  char *value = strchr(item, '=');
  if (!value) return -1;
  *value++ = '\0';
  int result;
  if (strcmp(item, "knee") == 0)
    result = parse_knee(program, value);
  else if (strcmp(item, "warm") == 0)
    result = take_parts(value, &program->warm_count, &program->warm_ns, NULL);
  else
    result = parse_scalar(program, item, value);
  value[-1] = '=';
  return result;
}

int vv_null_program_parse(struct vv_null_program *program, const char *text, struct vv_error *error) {
  *program = (struct vv_null_program){.alpha_ns = 50 * VV_US, .beta_ns = 0.08, .resolution_ns = 1, .seed = -1};
  char copy[512];
  if (!text) return 0;
  if ((size_t)snprintf(copy, sizeof copy, "%s", text) >= sizeof copy) return bad_program(text, error);
  char *rest = copy;
  for (char *item; (item = strsep(&rest, ","));) {
    if (parse_item(program, item) != 0) return bad_program(item, error);
  }
  if (program->resolution_ns < 1) return bad_program("resolution_ns=0", error);
  return 0;
}

vv_ns vv_null_program_rtt_ns(const struct vv_null_program *program, size_t size_bytes) {
  double one_way_ns = (double)program->alpha_ns + program->beta_ns * (double)size_bytes;
  for (size_t i = 0; i < program->knee_count; i++) {
    double above = (double)size_bytes - (double)program->knees[i].above_bytes;
    if (above > 0) one_way_ns += (double)program->knees[i].jump_ns + program->knees[i].beta_ns * above;
  }
  return llround(2 * one_way_ns);
}

static int begin_world(const struct vv_stack_config *config, struct vv_error *error) {
  if (world.begun) return 0;
  if (vv_null_program_parse(&world.program, config->program, error) != 0) return -1;
  uint64_t from_key = vv_siphash(config->key, (const uint8_t *)"null", 4);
  world.rng.state = world.program.seed < 0 ? from_key : (uint64_t)world.program.seed;
  world.factor = 1 + world.program.launch * (2 * vv_rng_unit(&world.rng) - 1);
  if (world.program.start > 0) {
    double share = world.program.start * (2 * vv_rng_unit(&world.rng) - 1);
    world.start_ns = (double)world.program.alpha_ns * share;
  }
  world.begun = true;
  return 0;
}

static void null_close(struct vv_end *end) {
  if (!end) return;
  free(end->under_way);
  free(end->stale);
  free(end);
}

static struct vv_end *null_open(const struct vv_stack_config *config, char contact[VV_STACK_CONTACT_MAX],
                                struct vv_error *error) {
  if (begin_world(config, error) != 0) return NULL;
  struct vv_end *end = calloc(1, sizeof *end);
  if (end) {
    end->under_way = malloc(config->size_bytes_max + 1);
    end->stale = malloc(config->size_bytes_max + 1);
  }
  if (!end || !end->under_way || !end->stale) {
    null_close(end);
    vv_error_set(error, "no-memory", "no memory for messages of %zu bytes", config->size_bytes_max);
    return NULL;
  }
  end->stop = config->stop;
  end->stale_bytes = SIZE_MAX;
  snprintf(contact, VV_STACK_CONTACT_MAX, "null");
  return end;
}

static int null_connect(struct vv_end *end, const char *contact, vv_ns deadline_ns, struct vv_error *error) {
  (void)end, (void)contact, (void)deadline_ns, (void)error;
  return 0;
}

static enum vv_got null_send(struct vv_end *end, const uint8_t *message, size_t size_bytes, struct vv_error *error) {
  (void)error;
  const struct vv_null_program *program = &world.program;
  memcpy(end->under_way, message, size_bytes);
  end->decided = false;
  world.sent_ns = world.now_ns > world.free_ns ? world.now_ns : world.free_ns;
  world.free_ns = world.sent_ns + program->gap_ns + llround(program->gap_byte_ns * (double)size_bytes);
  world.now_ns += program->o_s_ns;
  return VV_GOT_MESSAGE;
}

static bool chance(double probability) {
  return probability > 0 && vv_rng_unit(&world.rng) < probability;
}

/* How long this round trip takes, and the step by which its clock is wrong. */
static vv_ns next_rtt_ns(size_t size_bytes) {
  const struct vv_null_program *program = &world.program;
  double rtt_ns = ((double)vv_null_program_rtt_ns(program, size_bytes) + 2 * world.start_ns) * world.factor;
  if (program->noise > 0) rtt_ns -= rtt_ns * program->noise * log1p(-vv_rng_unit(&world.rng));
  int64_t number = world.count++;
  if (number < program->warm_count) {
    rtt_ns += (double)program->warm_ns * (double)(program->warm_count - number) / (double)program->warm_count;
  }
  if (program->back > 0 && number + 1 == program->back) rtt_ns = -BACK_NS;
  return llround(rtt_ns);
}

/* Whether the answer comes in time. */
static void decide(struct vv_end *end, size_t size_bytes) {
  bool late = chance(world.program.late);
  end->decided = true;
  end->lost = late || chance(world.program.loss);
  if (!late) return;
  memcpy(end->stale, end->under_way, size_bytes);
  end->stale_bytes = size_bytes;
}

/* Receiving takes o_r, and ends when the answer is there: before that, only if the clock goes back. */
static void receive_at(vv_ns due_ns) {
  vv_ns earliest_ns = world.now_ns + world.program.o_r_ns;
  bool back = due_ns < world.sent_ns;
  world.now_ns = back || due_ns > earliest_ns ? due_ns : earliest_ns;
}

static enum vv_got null_recv(struct vv_end *end, uint8_t *message, size_t size_bytes, struct vv_error *error) {
  (void)error;
  if (!end->decided && end->stale_bytes == size_bytes) {
    memcpy(message, end->stale, size_bytes);
    end->stale_bytes = SIZE_MAX;
    return VV_GOT_MESSAGE;
  }
  if (!end->decided) decide(end, size_bytes);
  while (end->lost) {
    world.now_ns += WAIT_NS;
    if (end->stop.ask(end->stop.context)) return VV_GOT_STOPPED;
  }
  receive_at(world.sent_ns + next_rtt_ns(size_bytes));
  memcpy(message, end->under_way, size_bytes);
  if (size_bytes > 0 && chance(world.program.corrupt)) message[vv_rng_next(&world.rng) % size_bytes] ^= 0x20;
  return VV_GOT_MESSAGE;
}

static vv_ns null_clock_ns(struct vv_end *end) {
  (void)end;
  return world.now_ns - world.now_ns % world.program.resolution_ns;
}

static void null_pause(struct vv_end *end, vv_ns pause_ns) {
  (void)end;
  world.now_ns += pause_ns;
}

static struct vv_clock_quality null_clock_quality(struct vv_end *end) {
  (void)end;
  return (struct vv_clock_quality){.resolution_ns = world.program.resolution_ns, .cost_ns = 0};
}

const struct vv_stack vv_stack_null = {
    .id = "null",
    .summary = "no network: programmed costs and faults under a clock of its own (--null)",
    .size_bytes_min = 0,
    .size_bytes_max = (size_t)64 << 20,
    .alone = true,
    .datagram = true,
    .path = VV_PATH_NONE,
    .open = null_open,
    .accept = null_connect,
    .connect = null_connect,
    .send = null_send,
    .recv = null_recv,
    .clock_ns = null_clock_ns,
    .pause = null_pause,
    .clock_quality = null_clock_quality,
    .close = null_close,
};
