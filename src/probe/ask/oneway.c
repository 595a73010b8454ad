/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The question oneway: how long does a train of messages take one way, until
 * its first and its last message are there? For ends that share one clock, as
 * the hosts of a lab do (--one-clock), or whose clocks are compared before and after.
 *
 * near: oneway size_bytes= train= trains= launch= end= broadcast= segment= port=     far: listening at=
 *       ... trains, at the beats of a clock that all senders of the lab share ...
 *       end                                              far: train number= first_ns= last_ns= count=, for each
 *
 * Nothing else is sent while trains run. With --also there are several far ends,
 * each with its own control connection, and the trains go to all by broadcast.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/siphash.h"
#include "io/os/watch.h"
#include "probe/ask/question.h"
#include "probe/kit/trains.h"
#include "probe/kit/warmup.h"
#include "probe/link/fars.h"

#define WARM_UP    2             /* trains that count for nothing */
#define GAP_NS     (3 * VV_MS)   /* between trains, unless --idle-ms says more */
#define BEAT_NS    VV_MS         /* the beats are multiples of it */
#define AWAKE_NS   (200 * VV_US) /* before a beat, so that the wake-up is not timed */
#define LOOK_NS    (5 * VV_MS)   /* how often the far end looks */
#define QUIET_NS   (30 * VV_MS)  /* and how long nothing may come before it believes that nothing will */
#define TRAINS_MAX 100000

static int usage(struct vv_error *error, const char *text) {
  vv_error_set(error, "usage", "--ask oneway: %s", text);
  return vv_error_remedy(error, "see vaiven-probe --help");
}

static bool over_frames(const struct vv_probe_config *config) {
  return config->stack->path == VV_PATH_LLC_UI;
}

static int check(const struct vv_probe_config *config, struct vv_error *error) {
  bool frames = over_frames(config);
  if (!frames && config->stack->path != VV_PATH_UDP) return usage(error, "only over udp and eth");
  if (config->rate_bps == 0 || config->hops == 0 || config->mtu_bytes == 0) {
    return usage(error, "needs --mtu, --rate-bps and --hops, to know when a train is over");
  }
  if (config->segment && frames) return usage(error, "--segment is for udp");
  if (config->train > VV_TRAINS_MESSAGES_MAX) return usage(error, "the train is too long");
  if (config->samples > TRAINS_MAX) return usage(error, "too many --samples");
  size_t low = vv_trains_size_min(frames), high = vv_trains_size_max(frames, config->mtu_bytes);
  for (size_t i = 0; i < config->size_count; i++) {
    if (config->sizes[i] >= low && config->sizes[i] <= high) continue;
    vv_error_set(error, "size-limit", "oneway over %s carries %zu to %zu bytes in a message, not %zu",
                 config->stack->id, low, high, config->sizes[i]);
    return vv_error_remedy(error, "leave that size out");
  }
  return 0;
}

/* near ---------------------------------------------------------------- */

/* Of one far end: when the messages of each train came, by its clock; 0: did not. */
struct result {
  vv_ns *first_at_ns;
  vv_ns *last_at_ns;
  int64_t came; /* messages */
};

struct oneway_cell {
  struct vv_session *session;
  struct vv_fars *fars;
  struct vv_trains_config trains_config;
  uint32_t trains; /* with those that count for nothing */
  vv_ns *sent_ns;
  struct result results[VV_FARS_MAX];
};

/* All far ends listen; those after the first on its port. *to is where the trains go. */
static int make_listen(const struct oneway_cell *cell, char to[VV_TRAINS_CONTACT_MAX], struct vv_error *error) {
  const struct vv_trains_config *trains_config = &cell->trains_config;
  char line[VV_LINE_BYTES_MAX], at[VV_TRAINS_CONTACT_MAX];
  struct vv_address address;
  uint16_t port = 0;
  for (size_t i = 0; i < cell->fars->count; i++) {
    struct vv_session *far = cell->fars->ends[i].session;
    if (vv_control_send(&far->control, error,
                        "oneway size_bytes=%zu train=%" PRIu32 " trains=%" PRIu32 " launch=%" PRIu32 " end=%" PRIu32
                        " broadcast=%d port=%u",
                        trains_config->size_bytes, trains_config->train, cell->trains, trains_config->launch,
                        trains_config->end, trains_config->broadcast, port) != 0 ||
        vv_session_expect(far, "listening", line, error) != 0) {
      return -1;
    }
    if (!vv_line_word(line, "at", at, sizeof at)) return vv_error_set(error, "bad-control", "listening where?");
    if (i > 0) continue;
    memcpy(to, at, sizeof at);
    if (trains_config->frames) continue;
    if (vv_address_parse_pair(at, &address, error) != 0) return -1;
    port = vv_address_port(&address);
  }
  return 0;
}

static struct vv_message_cost cost_of_train(const struct oneway_cell *cell) {
  const struct vv_probe_config *config = cell->session->config;
  struct vv_message_cost cost = vv_message_cost(config->stack->path, cell->trains_config.size_bytes, config->mtu_bytes);
  cost.frames *= cell->trains_config.train;
  cost.bytes *= cell->trains_config.train;
  return cost;
}

/* Senders with the same options beat together: they start from multiples of one period, not from when they were run. */
static vv_ns period_ns(const struct oneway_cell *cell) {
  const struct vv_probe_config *config = cell->session->config;
  struct vv_message_cost cost = cost_of_train(cell);
  vv_ns gap_ns = config->idle_ns > 0 ? config->idle_ns : GAP_NS;
  vv_ns needed_ns = (int64_t)vv_message_ns(&cost, config->rate_bps, config->hops) + gap_ns;
  return (needed_ns + BEAT_NS - 1) / BEAT_NS * BEAT_NS;
}

static int send_trains(struct oneway_cell *cell, struct vv_trains_sender *sender, struct vv_error *error) {
  int64_t period = period_ns(cell);
  for (uint32_t number = 0; number < cell->trains; number++) {
    vv_ns beat_ns = ((vv_clock_ns() + AWAKE_NS) / period + 1) * period;
    if (vv_watch_sleep(beat_ns - AWAKE_NS, error) != 0) return -1;
    while (vv_clock_ns() < beat_ns) continue;
    if (vv_trains_send(sender, number, &cell->sent_ns[number], error) != 0) return -1;
  }
  return vv_watch_sleep(vv_clock_ns() + period, error);
}

static int take_train(const struct oneway_cell *cell, const char *line, struct result *result, struct vv_error *error) {
  int64_t number, count;
  vv_ns first_ns, last_ns;
  if (vv_control_number(line, "number", &number, error) != 0 ||
      vv_control_number(line, "first_ns", &first_ns, error) != 0 ||
      vv_control_number(line, "last_ns", &last_ns, error) != 0 ||
      vv_control_number(line, "count", &count, error) != 0) {
    return -1;
  }
  if (count < 0 || count > cell->trains_config.train || number < 0 || number >= cell->trains)
    return vv_error_set(error, "bad-control", "there was no such train");
  if (number < WARM_UP) return 0;
  result->came += count;
  result->first_at_ns[number] = first_ns;
  result->last_at_ns[number] = last_ns;
  return 0;
}

/* Fills took_ns with what the trains took that came there, in order, and returns how many. Their clock said when. */
static size_t elapsed(const struct oneway_cell *cell, const struct vv_strip *strip, const vv_ns *at_ns,
                      vv_ns *took_ns) {
  size_t count = 0;
  for (uint32_t number = WARM_UP; number < cell->trains; number++) {
    if (at_ns[number] <= 0) continue;
    vv_ns sent_ns = cell->sent_ns[number], about_ns = at_ns[number] - vv_strip_ahead_ns(strip, sent_ns);
    took_ns[count++] = at_ns[number] - vv_strip_ahead_ns(strip, about_ns) - sent_ns;
  }
  return count;
}

/* What compares the clocks: "common", "bounded", or "refused", and that is said. Sorts the times. */
static const char *judge_clock(const struct oneway_cell *cell, const struct vv_far *far, vv_ns *last_ns, size_t count) {
  struct vv_error why;
  vv_ns error_ns = vv_strip_half_width_ns(&far->strip);
  if (cell->session->config->one_clock) return "common";
  if (!far->set && (count == 0 || !vv_fars_too_rough(error_ns, vv_warmup_median_ns(last_ns, count)))) return "bounded";
  vv_fars_refuse(far->set ? far : NULL, error_ns, &why);
  vv_record_warning(why.code, "%zu B: no time one way: %s", cell->trains_config.size_bytes, why.text);
  return "refused";
}

/* A time that is not told is null, so that it is known how many were sent. */
static void record_times(struct vv_record *record, const char *key, const vv_ns *took_ns, size_t count, bool told) {
  vv_record_array(record, key);
  for (size_t i = 0; i < count; i++) {
    if (told) vv_record_int(record, NULL, took_ns[i]);
    if (!told) vv_record_null(record, NULL);
  }
  vv_record_array_end(record);
}

static void record_clock(struct vv_record *record, const struct vv_far *far, const char *kind) {
  vv_record_object(record, "clock");
  vv_record_text(record, "kind", kind);
  vv_record_int(record, "error_ns", vv_strip_half_width_ns(&far->strip));
  vv_record_array(record, "ends");
  if (strcmp(kind, "bounded") == 0) vv_fars_record_strip(record, far);
  vv_record_array_end(record);
  vv_record_object_end(record);
}

static void record_wire(struct vv_record *record, const struct oneway_cell *cell) {
  const struct vv_probe_config *config = cell->session->config;
  struct vv_message_cost cost = cost_of_train(cell);
  struct vv_message_cost one = vv_message_cost(config->stack->path, cell->trains_config.size_bytes, config->mtu_bytes);
  vv_record_object(record, "wire");
  vv_record_int(record, "frames", cost.frames);
  vv_record_int(record, "bytes", (int64_t)cost.bytes);
  vv_record_int(record, "first_ns", (int64_t)vv_message_ns(&one, config->rate_bps, config->hops));
  vv_record_int(record, "ns", (int64_t)vv_message_ns(&cost, config->rate_bps, config->hops));
  vv_record_object_end(record);
}

/* first_ns, last_ns: room for all trains. */
static int print_result(const struct oneway_cell *cell, size_t number, vv_ns *first_ns, vv_ns *last_ns,
                        struct vv_error *error) {
  struct vv_record record;
  char host[VV_ADDRESS_TEXT_MAX];
  const struct vv_far *far = &cell->fars->ends[number];
  const struct result *result = &cell->results[number];
  const char *kind = judge_clock(cell, far, last_ns, elapsed(cell, &far->strip, result->last_at_ns, last_ns));
  bool told = strcmp(kind, "refused") != 0;
  vv_address_format_host(&far->session->peer, host);
  vv_record_begin(&record, "cell");
  vv_record_text(&record, "ask", "oneway");
  vv_record_text(&record, "far", host);
  vv_record_int(&record, "size_bytes", (int64_t)cell->trains_config.size_bytes);
  vv_record_int(&record, "train", cell->trains_config.train);
  vv_record_bool(&record, "segment", cell->trains_config.segment);
  vv_record_bool(&record, "broadcast", cell->trains_config.broadcast);
  size_t count = elapsed(cell, &far->strip, result->first_at_ns, first_ns);
  record_times(&record, "first_ns", first_ns, count, told);
  count = elapsed(cell, &far->strip, result->last_at_ns, last_ns);
  record_times(&record, "last_ns", last_ns, count, told);
  vv_record_int(&record, "lost", (int64_t)(cell->trains - WARM_UP) * cell->trains_config.train - result->came);
  record_clock(&record, far, kind);
  record_wire(&record, cell);
  return vv_record_end(&record, error);
}

static int print_results(const struct oneway_cell *cell, struct vv_error *error) {
  vv_ns *times_ns = calloc(2 * (size_t)cell->trains, sizeof *times_ns);
  int failed = times_ns ? 0 : vv_error_set(error, "no-memory", "no memory for the results");
  for (size_t i = 0; i < cell->fars->count && !failed; i++) {
    failed = print_result(cell, i, times_ns, times_ns + cell->trains, error);
  }
  free(times_ns);
  return failed;
}

static int take_result(const struct oneway_cell *cell, struct vv_session *far, struct result *result,
                       struct vv_error *error) {
  char line[VV_LINE_BYTES_MAX];
  int failed = vv_control_send(&far->control, error, "end");
  for (uint32_t i = 0; i < cell->trains && !failed; i++) {
    failed = vv_session_expect(far, "train", line, error);
    if (!failed) failed = take_train(cell, line, result, error);
  }
  return failed;
}

/* Where the hosts share no clock: reads the far ends' ones. */
static int visit(const struct oneway_cell *cell, bool first, struct vv_error *error) {
  return cell->session->config->one_clock ? 0 : vv_fars_visit(cell->fars, first, error);
}

static int ask_all(struct oneway_cell *cell, struct vv_error *error) {
  char to[VV_TRAINS_CONTACT_MAX];
  struct vv_trains_sender sender;
  cell->fars = vv_fars_meet(cell->session, false, error);
  if (!cell->fars || visit(cell, true, error) != 0) return -1;
  if (make_listen(cell, to, error) != 0 || vv_trains_dial(&sender, &cell->trains_config, to, error) != 0) return -1;
  int result = send_trains(cell, &sender, error);
  vv_trains_hang_up(&sender);
  vv_tally_messages(cell->session, cell->trains_config.size_bytes, (uint64_t)cell->trains * cell->trains_config.train,
                    0);
  for (size_t i = 0; i < cell->fars->count && result == 0; i++)
    result = take_result(cell, cell->fars->ends[i].session, &cell->results[i], error);
  if (result == 0) result = visit(cell, false, error);
  if (result != 0) return result;
  if (!cell->session->config->one_clock) {
    vv_fars_bound(cell->fars, cell->sent_ns[0], cell->sent_ns[cell->trains - 1] + period_ns(cell));
  }
  return print_results(cell, error);
}

static struct vv_trains_config make_config(struct vv_session *session, size_t size_bytes) {
  static const uint8_t purpose[] = "oneway";
  const struct vv_probe_config *config = session->config;
  uint64_t seed = vv_siphash(session->key, purpose, sizeof purpose - 1);
  return (struct vv_trains_config){.frames = over_frames(config),
                                   .broadcast = config->also_count > 0,
                                   .segment = config->segment,
                                   .launch = (uint32_t)seed,
                                   .end = (uint32_t)(seed >> 32) + (uint32_t)session->seq++,
                                   .size_bytes = size_bytes,
                                   .train = config->train,
                                   .own = session->own,
                                   .iface = config->iface};
}

static int near_cell(struct vv_session *session, size_t size_bytes, struct vv_error *error) {
  struct oneway_cell cell = {.session = session,
                             .trains_config = make_config(session, size_bytes),
                             .trains = session->config->samples + WARM_UP};
  size_t ends = session->config->also_count + 1;
  vv_ns *times_ns = calloc((1 + 2 * ends) * cell.trains, sizeof *times_ns);
  if (!times_ns) return vv_error_set(error, "no-memory", "no memory for the times of %u trains", cell.trains);
  cell.sent_ns = times_ns;
  for (size_t i = 0; i < ends; i++) {
    cell.results[i].first_at_ns = times_ns + (1 + 2 * i) * cell.trains;
    cell.results[i].last_at_ns = times_ns + (2 + 2 * i) * cell.trains;
  }
  int result = ask_all(&cell, error);
  free(times_ns);
  return result;
}

/* far ----------------------------------------------------------------- */

static int read_line(struct vv_session *session, const char *line, struct vv_trains_config *trains_config,
                     int64_t *trains, int64_t *port, struct vv_error *error) {
  int64_t size_bytes, train, launch, end, broadcast;
  if (vv_control_number(line, "size_bytes", &size_bytes, error) != 0 ||
      vv_control_number(line, "train", &train, error) != 0 || vv_control_number(line, "trains", trains, error) != 0 ||
      vv_control_number(line, "launch", &launch, error) != 0 || vv_control_number(line, "end", &end, error) != 0 ||
      vv_control_number(line, "broadcast", &broadcast, error) != 0 ||
      vv_control_number(line, "port", port, error) != 0) {
    return -1;
  }
  *trains_config = (struct vv_trains_config){.frames = over_frames(session->config),
                                             .broadcast = broadcast != 0,
                                             .launch = (uint32_t)launch,
                                             .end = (uint32_t)end,
                                             .size_bytes = (size_t)size_bytes,
                                             .train = (uint32_t)train,
                                             .own = session->own,
                                             .iface = session->config->iface};
  bool sound = size_bytes >= 0 &&
               (size_t)size_bytes <= vv_trains_size_max(trains_config->frames, VV_FRAME_DATA_BYTES_MAX) && train >= 1 &&
               train <= VV_TRAINS_MESSAGES_MAX && *trains >= 1 && *trains <= TRAINS_MAX + WARM_UP && *port >= 0 &&
               *port <= UINT16_MAX;
  return sound ? 0 : vv_error_set(error, "bad-control", "the near end said \"%.80s\"", line);
}

/* Looks now and then until the near end has said "end" and nothing comes any more. */
static int collect(struct vv_session *session, struct vv_trains_receiver *receiver, struct vv_error *error) {
  char line[VV_LINE_BYTES_MAX];
  vv_ns quiet_since_ns = 0;
  bool ended = false;
  while (!ended || vv_clock_ns() < quiet_since_ns + QUIET_NS) {
    int fd = ended ? -1 : session->control.fd;
    if (vv_watch_wait(&fd, 1, vv_clock_ns() + LOOK_NS, error) < 0 && error->kind != VV_CODE_TIMEOUT) return -1;
    if (vv_trains_collect(receiver) > 0) quiet_since_ns = vv_clock_ns();
    int got = ended ? 0 : vv_control_take(&session->control, line, error);
    if (got < 0) return -1;
    if (got == 0) continue;
    if (!vv_line_is(line, "end")) return vv_error_set(error, "bad-control", "the near end said \"%.80s\"", line);
    ended = true;
    quiet_since_ns = vv_clock_ns();
  }
  return 0;
}

static int tell(struct vv_session *session, const struct vv_trains_receiver *receiver, struct vv_error *error) {
  uint64_t came = 0;
  for (uint32_t number = 0; number < receiver->trains; number++) {
    const struct vv_trains_arrivals *arrivals = &receiver->arrivals[number];
    came += arrivals->count;
    if (vv_control_send(&session->control, error,
                        "train number=%" PRIu32 " first_ns=%" PRId64 " last_ns=%" PRId64 " count=%" PRIu32, number,
                        arrivals->first_ns, arrivals->last_ns, arrivals->count) != 0) {
      return -1;
    }
  }
  vv_tally_messages(session, receiver->config.size_bytes, 0, came);
  return 0;
}

static int far_cell(struct vv_session *session, const char *line, struct vv_error *error) {
  struct vv_trains_config trains_config;
  struct vv_trains_receiver receiver;
  char contact[VV_TRAINS_CONTACT_MAX];
  int64_t trains, port;
  if (read_line(session, line, &trains_config, &trains, &port, error) != 0 ||
      vv_trains_listen(&receiver, &trains_config, (uint32_t)trains, (uint16_t)port, contact, error) != 0) {
    return -1;
  }
  int result = vv_control_send(&session->control, error, "listening at=%s", contact);
  if (result == 0) result = collect(session, &receiver, error);
  if (result == 0) result = tell(session, &receiver, error);
  vv_trains_close(&receiver);
  return result;
}

const struct vv_question vv_question_oneway = {.id = "oneway",
                                               .train = 1,
                                               .meets = VV_QUESTION_OTHERS,
                                               .own_ends = true,
                                               .check = check,
                                               .near = near_cell,
                                               .finish = vv_fars_part,
                                               .far = far_cell};
