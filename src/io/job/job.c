/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/job/job.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/wire/bytes.h"
#include "io/job/collective.h"
#include "io/job/place.h"
#include "io/os/clock.h"

#define PORT_TRIES 16          /* of numbers that somebody has for TCP */
#define TAKE_MAX   64          /* datagrams of one socket in a turn, so that no socket waits long for another */
#define COMPANY_NS (5 * VV_MS) /* so long a word that nobody waits for is kept */

/* Links: who is gone, and what was agreed */

static void notice(struct vv_job *job, const char *format, const struct vv_job_stream *stream, uint32_t rank) {
  char text[400], where[VV_ADDRESS_TEXT_MAX];
  if (!job->notice) return;
  vv_job_stream_where(stream, rank, where);
  snprintf(text, sizeof text, format, rank, where);
  job->notice(job->context, text);
}

static struct vv_job_stream *find_stream(const struct vv_job *job, uint32_t number, uint32_t epoch) {
  struct vv_job_stream *stream = job->streams;
  while (stream && (stream->number != number || stream->epoch != epoch)) stream = stream->next;
  return stream;
}

/* The group is there: what its members send from now on may come before they know. */
static void add(struct vv_job *job, struct vv_job_stream *stream, const struct vv_accord *made) {
  vv_job_stream_open(stream, made->stream, made->epoch);
  stream->next = job->streams->next;
  job->streams->next = stream;
  job->alone = false;
  vv_cast_admit(&job->cast, &stream->number, 1);
  vv_early_give(&job->early, stream->number, &stream->core, job->at_ns);
}

/* Whoever does not wait any more for a group that was made after all leaves it at once, and all others hear of it. */
static void leave_abandoned(struct vv_job *job, bool made) {
  struct vv_job_stream *stream = job->making.stream;
  if (made && stream) {
    vv_rank_lost(&stream->core, job->at_ns, stream->core.config.rank, VV_GPDU_DIED);
    stream->leaving = true;
  } else if (stream) {
    vv_job_stream_free(stream);
  }
  job->making = (struct vv_job_making){.answered = true};
}

static void answer(struct vv_job *job, const struct vv_accord *accord) {
  struct vv_job_making *making = &job->making;
  const bool made = accord->what == VV_ACCORD_MADE;
  if (!making->asked || making->answered || making->list != accord->list) return;
  if (made && making->stream) add(job, making->stream, accord);
  vv_early_end(&job->early);
  making->answer = *accord;
  making->answered = true;
  if (making->abandoned) leave_abandoned(job, made);
}

/* Rank 0 says something, or this rank 0 to itself. */
static void hear_first(struct vv_job *job, const struct vv_accord *accord) {
  struct vv_job_stream *stream = find_stream(job, accord->stream, accord->epoch);
  if (accord->what != VV_ACCORD_ENDED) {
    answer(job, accord);
  } else if (accord->stream == 0) {
    job->parted = true;
  } else if (stream && stream->parting) {
    stream->ended = true;
  }
}

/* Nobody answers any more: who waits for rank 0 waits no longer. */
static void lose_first(struct vv_job *job) {
  const struct vv_accord refused = {
      .what = VV_ACCORD_REFUSED, .list = job->making.list, .why = VV_ACCORD_DIED, .rank = 0};
  job->parted = true;
  answer(job, &refused);
  for (struct vv_job_stream *one = job->streams; one; one = one->next) one->ended = one->parting;
}

/* A rank's kernel, or rank 0, says that it is gone. Rank 0 tells the others in a way that loses nothing. */
static void lose(struct vv_job *job, uint32_t member) {
  for (struct vv_job_stream *one = job->streams; one; one = one->next) {
    const uint32_t rank = vv_job_stream_rank_of(one, member);
    if (rank != UINT32_MAX) vv_rank_lost(&one->core, job->at_ns, rank, VV_GPDU_DIED);
  }
  vv_lanes_lost(&job->lanes, member);
  if (job->meeting.rank != 0) return;
  const struct vv_letter_note lost = vv_letter_lost(&(struct vv_letter_refusal){VV_LETTER_DIED, member, 0});
  vv_meeting_tell(&job->meeting, &lost);
  job->words_ns = job->at_ns;
  vv_referee_lost(&job->referee, member);
}

static struct pollfd *watched_link(struct vv_job *job, uint32_t rank) {
  return &job->watched[VV_JOB_WATCH_LINKS + (job->meeting.rank == 0 ? rank : 0)];
}

/* What comes after the word that ends the group of all is the end of the link, and is in order. */
static void hear_word(struct vv_job *job, uint32_t rank, const struct vv_letter_note *note) {
  struct vv_accord accord;
  if (!vv_accord_parse(note->numbers, job->meeting.ranks, rank == 0, &accord)) return;
  if (accord.stream == 0 && (accord.what == VV_ACCORD_BYE || accord.what == VV_ACCORD_ENDED)) {
    watched_link(job, rank)->events = 0;
  }
  if (job->meeting.rank == 0)
    vv_referee_hear(&job->referee, rank, &accord);
  else
    hear_first(job, &accord);
}

static void hear_link(struct vv_job *job, uint32_t rank) {
  struct vv_letter_note note;
  struct vv_letter_refusal lost;
  struct pollfd *place = watched_link(job, rank);
  do {
    if (!vv_meeting_hear(&job->meeting, rank, &note)) {
      if (place->events != 0) lose(job, rank);
      if (rank == 0) lose_first(job);
      place->fd = -1;
      return;
    }
    if (vv_letter_is_lost(&note, &lost) && lost.rank < job->meeting.ranks) lose(job, lost.rank);
    if (note.kind == VV_LETTER_WORD && place->events != 0) hear_word(job, rank, &note);
  } while (note.kind != VV_LETTER_NOTHING);
}

/* Nobody waits to hear of the end of a further group, but who leaves that of all. */
static bool has_time(const struct vv_job *job, const struct vv_accord *accord) {
  return (accord->what == VV_ACCORD_BYE || accord->what == VV_ACCORD_ENDED) && accord->stream != 0 && !job->leaving;
}

static void write_word(struct vv_job *job, uint32_t rank, const struct vv_accord *accord) {
  struct vv_letter_note note = {.kind = VV_LETTER_WORD};
  const vv_ns due_ns = job->at_ns + (has_time(job, accord) ? COMPANY_NS : 0);
  vv_accord_emit(accord, note.numbers);
  vv_meeting_tell_one(&job->meeting, rank, &note);
  if (due_ns < job->words_ns) job->words_ns = due_ns;
}

/* What is due takes along all that waits. */
static void send_words(struct vv_job *job) {
  if (job->at_ns < job->words_ns) return;
  job->words_ns = VV_NEVER;
  vv_meeting_send(&job->meeting);
}

/* The referee of rank 0 has something to say to a rank. */
static void tell(void *context, uint32_t rank, const struct vv_accord *accord) {
  struct vv_job *job = context;
  if (rank == 0)
    hear_first(job, accord);
  else
    write_word(job, rank, accord);
}

void vv_job_say(struct vv_job *job, const struct vv_accord *accord) {
  if (job->meeting.rank == 0) {
    vv_referee_hear(&job->referee, 0, accord);
  } else {
    write_word(job, 0, accord);
    if (job->meeting.links[0].fd < 0) lose_first(job);
  }
}

/* Datagrams that have come */

/* The number of its group, by its first bytes. */
static uint32_t number_of(const struct vv_job *job, const uint8_t *bytes, size_t count) {
  return count >= 4 ? (vv_get32(bytes) & VV_GPDU_STREAM_MAX) - job->reach.stream : 0;
}

/* Whose it is; NULL: of a group that this rank is not in now. */
static struct vv_job_stream *stream_of(const struct vv_job *job, uint32_t number) {
  for (struct vv_job_stream *one = job->streams; one; one = one->next) {
    if (one->number == number) return one;
  }
  return number < VV_ACCORD_STREAMS ? NULL : job->streams; /* of no group of the job: let it be counted */
}

void vv_job_take(struct vv_job *job, int socket, const uint8_t *bytes, const size_t *counts, unsigned came) {
  const enum vv_rank_socket from = socket == VV_CAST_DATA ? VV_RANK_SOCKET_DATA : VV_RANK_SOCKET_CONTROL;
  for (unsigned i = 0; i < came; i++, bytes += job->room) {
    if (counts[i] == 0) continue;
    const uint32_t number = number_of(job, bytes, counts[i]);
    struct vv_job_stream *stream = stream_of(job, number);
    const bool is_early = vv_early_keep(&job->early, number, from, bytes, counts[i]); /* or of an older group */
    if (stream)
      vv_rank_take(&stream->core, job->at_ns, from, bytes, counts[i]);
    else if (!is_early)
      job->foreign += socket == VV_CAST_OWN; /* what goes to all may be of a group of others */
  }
}

static void dry(struct vv_job *job, vv_ns then_ns) {
  for (struct vv_job_stream *one = job->streams; one; one = one->next) vv_rank_dry(&one->core, then_ns);
}

bool vv_job_take_socket(struct vv_job *job, int socket) {
  size_t counts[VV_CAST_BATCH];
  bool any = false;
  for (int turns = 0; turns < TAKE_MAX / VV_CAST_BATCH; turns++) {
    if (socket == VV_CAST_DATA && !vv_job_wants_data(job)) return any;
    const unsigned came = vv_cast_recv(&job->cast, socket, job->bytes, job->room, counts);
    vv_job_take(job, socket, job->bytes, counts, came);
    any |= came > 0;
    if (came == VV_CAST_BATCH) continue;
    if (socket == VV_CAST_DATA) dry(job, job->at_ns);
    return any;
  }
  return any;
}

void vv_job_take_ready(struct vv_job *job, vv_ns then_ns) {
  const struct pollfd *data = &job->watched[VV_CAST_DATA];
  if (data->events && !data->revents) dry(job, then_ns); /* before what CONTROL says of what came since */
  for (int socket = VV_CAST_SOCKETS - 1; socket >= 0; socket--) {
    if (job->watched[socket].revents) vv_job_take_socket(job, socket);
  }
  if (job->watched[VV_JOB_WATCH_LANES].revents) vv_lanes_turn(&job->lanes);
  for (nfds_t i = VV_JOB_WATCH_LINKS; i < job->watched_count; i++) {
    if (job->watched[i].revents) hear_link(job, (uint32_t)(i - VV_JOB_WATCH_LINKS));
  }
}

void vv_job_look(struct vv_job *job) {
  const vv_ns then_ns = job->at_ns;
  const int ready = poll(job->watched, job->watched_count, 0);
  vv_job_begin_turn(job);
  if (ready > 0) vv_job_take_ready(job, then_ns);
}

/* Datagrams to send */

static int socket_of(const struct vv_rank_datagram *datagram) {
  return datagram->way == VV_RANK_TO_DATA ? VV_CAST_DATA : VV_CAST_EVERYONE;
}

static struct sockaddr_in target(const struct vv_job *job, const struct vv_job_stream *stream,
                                 const struct vv_rank_datagram *datagram) {
  if (datagram->way == VV_RANK_TO_RANK) return stream->peers[vv_job_stream_member(stream, datagram->rank)];
  return vv_cast_place(&job->cast, socket_of(datagram));
}

/* Datagrams on their way to the kernel. */
struct batch {
  unsigned count;
  const struct vv_job_stream *streams[VV_CAST_BATCH];
  struct vv_rank_datagram datagrams[VV_CAST_BATCH];
  struct vv_cast_datagram out[VV_CAST_BATCH];
};

static void fill(const struct vv_job *job, struct vv_job_stream *stream, struct batch *batch) {
  unsigned count = batch->count;
  for (; count < VV_CAST_BATCH && vv_rank_next(&stream->core, job->at_ns, &batch->datagrams[count]); count++) {
    struct vv_rank_datagram *one = &batch->datagrams[count];
    batch->streams[count] = stream;
    batch->out[count] = (struct vv_cast_datagram){
        target(job, stream, one),
        {{one->header, one->header_bytes}, {(void *)(uintptr_t)one->payload, one->payload_bytes}}};
  }
  batch->count = count;
}

/* Whether one of them goes to that member of the job, where what goes to all goes to each; *to: where it then does. */
static bool goes_to(const struct vv_job *job, const struct batch *batch, unsigned i, uint32_t member,
                    struct sockaddr_in *to) {
  const struct vv_job_stream *stream = batch->streams[i];
  const struct vv_rank_datagram *datagram = &batch->datagrams[i];
  *to = batch->out[i].to;
  if (datagram->way == VV_RANK_TO_RANK) return vv_job_stream_member(stream, datagram->rank) == member;
  *to = vv_reach_place(&job->reach, &stream->peers[member], member, socket_of(datagram));
  return member != job->meeting.rank && vv_job_stream_rank_of(stream, member) != UINT32_MAX;
}

static void send_to_each(struct vv_job *job, const struct batch *batch) {
  for (uint32_t member = 0; member < job->meeting.ranks; member++) {
    struct vv_cast_datagram out[VV_CAST_BATCH];
    unsigned count = 0;
    for (unsigned i = 0; i < batch->count; i++) {
      struct sockaddr_in to;
      if (goes_to(job, batch, i, member, &to)) {
        out[count] = batch->out[i];
        out[count++].to = to;
      }
    }
    if (count > 0) vv_cast_send(&job->cast, out, count);
  }
}

/* Sends some of what the cores want sent. False: there is nothing more now. */
static bool send_some(struct vv_job *job) {
  struct batch batch;
  batch.count = 0;
  for (struct vv_job_stream *one = job->streams; one; one = one->next) fill(job, one, &batch);
  if (batch.count > 0 && job->reach.ports)
    send_to_each(job, &batch);
  else if (batch.count > 0)
    vv_cast_send(&job->cast, batch.out, batch.count);
  return batch.count == VV_CAST_BATCH;
}

/* What the cores have to tell */

static void tell_flood(struct vv_job *job, uint64_t rate) {
  char text[400], where[VV_ADDRESS_TEXT_MAX];
  vv_job_stream_where(job->streams, job->meeting.rank, where);
  snprintf(text, sizeof text,
           "%" PRIu64 " foreign datagrams a second come to rank %u (%s), UDP ports %u and %u or its own: they change "
           "nothing, and cost time and room. See who sends them",
           rate, job->meeting.rank, where, job->cast.ports[VV_CAST_DATA], job->cast.ports[VV_CAST_EVERYONE]);
  if (job->notice) job->notice(job->context, text);
}

uint64_t vv_job_foreign(const struct vv_job *job) {
  uint64_t foreign = job->foreign;
  for (const struct vv_job_stream *one = job->streams; one; one = one->next) foreign += one->core.counts.foreign;
  return foreign;
}

static void turn_hearing(struct vv_job *job, bool deaf) {
  if (vv_hearing_turn(&job->hearing, deaf))
    notice(job, "multicast reaches rank %u (%s) again", job->streams, job->meeting.rank);
}

static void mind_hearing(struct vv_job *job) {
  if (!vv_hearing_is_deaf(&job->hearing, job->at_ns)) return;
  notice(job,
         "no multicast reaches rank %u (%s): it gets every datagram by itself. See that no switch waits "
         "for an IGMP querier that is not there",
         job->streams, job->meeting.rank);
  vv_cast_rejoin(&job->cast);
}

int vv_job_news(struct vv_job *job, struct vv_error *error) {
  if (job->news[0] < 0 && pipe2(job->news, O_CLOEXEC | O_NONBLOCK) != 0) {
    job->news[0] = job->news[1] = -1;
    return vv_error_errno(error, "no-pipe", "cannot make a pipe");
  }
  return job->news[0];
}

static void tell_news(struct vv_job *job, struct vv_job_stream *stream) {
  stream->news = false;
  if (job->news[1] >= 0 && !job->has_news) job->has_news = write(job->news[1], "", 1) == 1;
}

void vv_job_hear_news(struct vv_job *job) {
  char byte;
  if (job->has_news && read(job->news[0], &byte, 1) == 1) job->has_news = false;
}

/* A rank that is done with a group tells rank 0, once. */
static void part(struct vv_job *job, struct vv_job_stream *stream) {
  const struct vv_accord bye = {.what = VV_ACCORD_BYE, .stream = stream->number, .epoch = stream->epoch};
  stream->parting = true;
  vv_job_say(job, &bye);
}

/* True: an operation was started, and has something to send. */
static bool hear_core(struct vv_job *job, struct vv_job_stream *stream) {
  struct vv_rank_event event;
  bool started = false;
  while (vv_rank_event(&stream->core, &event)) {
    switch (event.kind) {
    case VV_RANK_DONE:
      started |= vv_job_stream_done(stream, job->at_ns, event.size_bytes);
      break;
    case VV_RANK_CLOSED:
      stream->over = true;
      break;
    case VV_RANK_FAILED:
      vv_job_stream_failed(stream, &event.failure);
      break;
    case VV_RANK_LATE:
      notice(job, "all wait for rank %u (%s)", stream, event.rank);
      break;
    case VV_RANK_HEARING:
    case VV_RANK_DEAFENED:
      turn_hearing(job, event.kind == VV_RANK_DEAFENED);
      break;
    }
  }
  if (stream->news) tell_news(job, stream);
  if (stream->leaving && stream->over && !stream->parting) part(job, stream);
  return started;
}

static bool hear_cores(struct vv_job *job) {
  bool started = false;
  const uint64_t foreign = vv_job_foreign(job);
  if (vv_hearing_minds(&job->hearing, foreign)) {
    const uint64_t rate = vv_hearing_count(&job->hearing, job->at_ns, foreign);
    if (rate > 0) tell_flood(job, rate);
  }
  for (struct vv_job_stream *one = job->streams; one; one = one->next) {
    if (one->core.waiting != 0 || one->leaving) started |= hear_core(job, one);
  }
  if (job->hearing.deaf) mind_hearing(job);
  return started;
}

/* Forgets the streams that nobody needs, here or elsewhere. */
static void sweep(struct vv_job *job) {
  for (struct vv_job_stream **place = &job->streams->next; *place;) {
    struct vv_job_stream *one = *place;
    if (!one->ended) {
      place = &one->next;
      continue;
    }
    *place = one->next;
    job->foreign += one->core.counts.foreign;
    vv_job_stream_free(one);
  }
  job->alone = !job->streams->next;
}

/* A message that has come for an operation which is another one here: the ranks call unlike operations. True: that is
 * so. */
static bool mind_message(struct vv_job *job, uint32_t member, uint64_t label) {
  struct vv_job_stream *stream = job->streams;
  while (stream && !vv_job_stream_is_labelled(stream, label)) stream = stream->next;
  if (!stream || stream->failed) return false;
  const uint32_t rank = vv_job_stream_rank_of(stream, member);
  if (rank == UINT32_MAX || vv_collective_awaits(stream, rank, label)) return false;
  vv_rank_lost(&stream->core, job->at_ns, rank, VV_GPDU_UNEQUAL_CALL);
  return true;
}

/* True: a group has failed, and has something to send. */
static bool mind_untaken(struct vv_job *job) {
  uint64_t label;
  bool lost = false;
  if (!job->lanes.has_untaken) return false;
  job->lanes.has_untaken = false;
  for (uint32_t member = 0; member < job->meeting.ranks; member++) {
    for (uint32_t at = 0; vv_lanes_untaken(&job->lanes, member, &at, &label);) lost |= mind_message(job, member, label);
  }
  return lost;
}

/* True: something was begun, and may have something to send. */
static bool turn_collectives(struct vv_job *job) {
  bool begun = false;
  for (struct vv_job_stream *one = job->streams; one; one = one->next) {
    if (!one->collectives) continue;
    begun |= vv_collective_turn(one, &job->lanes, job->at_ns);
    if (one->news) tell_news(job, one);
  }
  return begun;
}

void vv_job_turn(struct vv_job *job) {
  bool more;
  do {
    while (send_some(job)) {
      vv_job_look(job);
      send_words(job);
    }
    more = mind_untaken(job);
    more |= hear_cores(job);
    more |= turn_collectives(job);
  } while (more);
  if (job->streams->next) sweep(job);
  send_words(job);
}

void vv_job_leave(struct vv_job *job, struct vv_job_stream *stream) {
  vv_job_turn(job);
  stream->leaving = true;
  if (stream->first || stream->collectives)
    vv_rank_lost(&stream->core, job->at_ns, stream->core.config.rank, VV_GPDU_LEFT);
  else if (!stream->failed)
    vv_rank_close(&stream->core, job->at_ns);
  vv_job_turn(job);
}

/* What it waits for. What has failed says no more than others ask it. */

vv_ns vv_job_deadline_ns(const struct vv_job *job) {
  vv_ns next_ns = job->words_ns;
  for (const struct vv_job_stream *one = job->streams; one; one = one->next) {
    const vv_ns own_ns = one->failed ? VV_NEVER : vv_rank_deadline_ns(&one->core);
    if (own_ns < next_ns) next_ns = own_ns;
  }
  return next_ns;
}

vv_ns vv_job_duty_ns(const struct vv_job *job) {
  vv_ns next_ns = job->words_ns;
  for (const struct vv_job_stream *one = job->streams; one; one = one->next) {
    const vv_ns own_ns = one->failed ? VV_NEVER : vv_rank_duty_ns(&one->core);
    if (own_ns < next_ns) next_ns = own_ns;
  }
  return next_ns;
}

bool vv_job_wants_data(const struct vv_job *job) {
  return job->streams->next || vv_rank_wants_data(&job->streams->core);
}

bool vv_job_wants_data_alone(const struct vv_job *job, vv_ns until_ns) {
  bool wants = false;
  if (job->words_ns <= until_ns) return false;
  for (const struct vv_job_stream *one = job->streams; one; one = one->next) {
    if (one->failed) continue;
    if (vv_rank_wants_data_alone(&one->core))
      wants = true;
    else if (vv_rank_wants_data(&one->core))
      return false;
    if (vv_rank_deadline_ns(&one->core) <= until_ns) return false;
  }
  return wants;
}

bool vv_job_has_collectives(const struct vv_job *job) {
  for (const struct vv_job_stream *one = job->streams; one; one = one->next) {
    if (one->collectives) return true;
  }
  return false;
}

bool vv_job_waits_for_messages(const struct vv_job *job) {
  for (const struct vv_job_stream *one = job->streams; one; one = one->next) {
    for (const struct vv_collective *at = one->collectives; at; at = at->next) {
      if (vv_collective_waits_for_messages(at)) return true;
    }
  }
  return false;
}

/* Opening and ending */

struct vv_job *vv_job_new(const struct vv_group_config *config) {
  struct vv_job *job = calloc(1, sizeof *job);
  if (!job) return NULL;
  job->meeting = (struct vv_meeting){.ranks = config->ranks, .rank = config->rank, .lost = VV_MEETING_NOBODY};
  job->cast = (struct vv_cast){.fds = {-1, -1, -1}};
  vv_lanes_init(&job->lanes);
  job->wake[0] = job->wake[1] = job->news[0] = job->news[1] = -1;
  job->alone = true;
  job->words_ns = VV_NEVER;
  const uint32_t patience_ms = config->patience_ms ? config->patience_ms : config->timeout_ms;
  job->patience_ns = patience_ms == UINT32_MAX ? VV_NEVER : patience_ms * VV_MS;
  job->spin = config->spin;
  job->notice = config->notice;
  job->stop = config->stop;
  job->meanwhile = config->meanwhile;
  job->context = config->context;
  job->watched_count = VV_JOB_WATCH_LINKS + (config->rank == 0 ? config->ranks : 1);
  job->watched = calloc(job->watched_count, sizeof *job->watched);
  job->asleep = calloc(job->watched_count, sizeof *job->asleep);
  pthread_mutex_init(&job->lock, NULL);
  if (job->watched && job->asleep) return job;
  vv_job_free(job);
  return NULL;
}

void vv_job_free(struct vv_job *job) {
  while (job->streams) {
    struct vv_job_stream *first = job->streams;
    job->streams = first->next;
    vv_job_stream_free(first);
  }
  if (job->making.stream) vv_job_stream_free(job->making.stream);
  vv_early_free(&job->early);
  vv_lanes_close(&job->lanes);
  vv_cast_close(&job->cast);
  vv_meeting_close(&job->meeting);
  vv_referee_close(&job->referee);
  for (int i = 0; i < 2; i++) {
    if (job->wake[i] >= 0) close(job->wake[i]);
    if (job->news[i] >= 0) close(job->news[i]);
  }
  pthread_mutex_destroy(&job->lock);
  free(job->reach.ports);
  free(job->watched);
  free(job->asleep);
  free(job->bytes);
  free(job);
}

void vv_job_core_config(const struct vv_job *job, uint32_t ranks, uint32_t rank, uint32_t window_datagrams,
                        struct vv_rank_config *config) {
  *config = (struct vv_rank_config){.ranks = ranks,
                                    .rank = rank,
                                    .stream = job->reach.stream,
                                    .datagram_bytes = job->reach.datagram_bytes,
                                    .window_datagrams = window_datagrams,
                                    .rtt_ns = job->reach.rtt_ns,
                                    .shared_bps = job->reach.shared_bps};
  memcpy(config->key, job->meeting.key, sizeof config->key);
}

static void watch(struct vv_job *job) {
  for (int i = 0; i < VV_CAST_SOCKETS; i++) {
    job->watched[i] = (struct pollfd){.fd = job->cast.fds[i], .events = POLLIN};
  }
  job->watched[VV_JOB_WATCH_WAKE].fd = -1;
  job->watched[VV_JOB_WATCH_LANES] = (struct pollfd){.fd = job->lanes.fd, .events = POLLIN};
  for (nfds_t i = VV_JOB_WATCH_LINKS; i < job->watched_count; i++) {
    job->watched[i] = (struct pollfd){.fd = job->meeting.links[i - VV_JOB_WATCH_LINKS].fd, .events = POLLIN};
  }
}

/* The group of all, on what was agreed. */
static int open_first(struct vv_job *job, struct vv_error *error) {
  struct vv_job_stream_config first = {.peers = job->meeting.peers, .orders = job->meeting.orders};
  vv_job_core_config(job, job->meeting.ranks, job->meeting.rank, job->reach.window_datagrams, &first.core);
  job->room = job->reach.datagram_bytes;
  job->bytes = malloc((size_t)2 * VV_CAST_BATCH * job->room);
  job->streams = vv_job_stream_new(&first);
  const bool counts = job->meeting.rank != 0 || vv_referee_open(&job->referee, job->meeting.ranks, tell, job);
  if (job->bytes && job->streams && counts) vv_job_stream_open(job->streams, 0, 0);
  explicit_bzero(&first, sizeof first);
  if (job->bytes && job->streams && counts) return 0;
  return vv_error_set(error, "no-memory", "no memory for the group's datagrams");
}

/* UDP and TCP at ports of one number, of which the kernel draws that of UDP: who has it for TCP is a stranger. */
static int open_sockets(struct vv_job *job, const char *address, struct vv_error *error) {
  for (int tries = 0; tries < PORT_TRIES; tries++) {
    if (vv_cast_open(&job->cast, address, error) != 0) return -1;
    if (vv_lanes_listen(&job->lanes, &job->cast.own, error) == 0) return 0;
    vv_lanes_close(&job->lanes);
    vv_cast_close(&job->cast);
  }
  return -1;
}

/* That it costs more than was hoped for: all ranks have found it, and the first says it. */
static void tell_route(const struct vv_job *job, enum vv_group_route wanted) {
  if (job->reach.route != VV_GROUP_UNICAST || wanted != VV_GROUP_ANY || job->meeting.rank != 0 || !job->notice) return;
  job->notice(job->context, "neither multicast nor broadcast reaches all ranks: to send to all is to send to each");
}

/* At that place, which is known to all. */
static int meet_at(struct vv_job *job, const struct vv_group_config *config, struct vv_place *place,
                   struct vv_error *error) {
  const vv_ns deadline_ns = vv_clock_ns() + config->timeout_ms * VV_MS;
  struct vv_meeting_config meeting = {.ranks = config->ranks, .rank = config->rank, .key = place->key};
  if (open_sockets(job, config->address, error) != 0) return -1;
  meeting.own = job->cast.own;
  meeting.place = place->at;
  meeting.listener = place->listener;
  place->listener = -1; /* the meeting's */
  if (vv_meeting_open(&job->meeting, &meeting, deadline_ns, error) != 0) return -1;
  job->reach = (struct vv_reach){.route = config->route, .port = vv_address_port(&meeting.place)};
  if (vv_reach(&job->reach, &job->meeting, &job->cast, job->meeting.key, deadline_ns, error) != 0) return -1;
  tell_route(job, config->route);
  if (open_first(job, error) != 0) return -1;
  const struct vv_meeting *met = &job->meeting;
  if (vv_lanes_open(&job->lanes, met->ranks, met->rank, met->peers, met->key, error) != 0) return -1;
  watch(job);
  return 0;
}

int vv_job_meet(struct vv_job *job, const struct vv_group_config *config, struct vv_error *error) {
  struct vv_place place;
  int result = vv_place_find(&place, config, error);
  if (result == 0) result = meet_at(job, config, &place, error);
  vv_place_close(&place);
  return result;
}
