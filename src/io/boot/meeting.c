/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/boot/meeting.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/boot/guest.h"
#include "io/boot/hall.h"
#include "io/boot/refusal.h"
#include "io/os/clock.h"
#include "vaiven/data.h"

int vv_meeting_open(struct vv_meeting *meeting, const struct vv_meeting_config *config, vv_ns deadline_ns,
                    struct vv_error *error) {
  const uint32_t ranks = config->ranks;
  *meeting = (struct vv_meeting){.ranks = ranks, .rank = config->rank, .lost = VV_MEETING_NOBODY};
  meeting->peers = calloc(ranks, sizeof *meeting->peers);
  meeting->orders = calloc(ranks, sizeof *meeting->orders);
  meeting->links = calloc(ranks, sizeof *meeting->links);
  meeting->fds = calloc(ranks, sizeof *meeting->fds);
  for (uint32_t rank = 0; meeting->links && rank < ranks; rank++) meeting->links[rank].fd = -1;
  if (!meeting->peers || !meeting->orders || !meeting->links || !meeting->fds) {
    if (config->rank == 0) close(config->listener);
    return vv_error_set(error, "no-memory", "no memory for a meeting of %u ranks", ranks);
  }
  meeting->peers[config->rank] = config->own;
  meeting->orders[config->rank] = (uint8_t)vv_data_own_order();
  if (config->rank == 0) return vv_hall_open(meeting, config, deadline_ns, error);
  return vv_guest_open(meeting, config, deadline_ns, error);
}

static void hang_up(struct vv_meeting_link *link) {
  close(link->fd);
  link->fd = -1;
  link->kept = 0;
}

/* That a link has ended is heard, and told to whoever waits. */
static void send_kept(struct vv_meeting_link *link) {
  if (link->kept > 0) vv_socket_write_all(link->fd, link->outbound, (size_t)link->kept * VV_LETTER_NOTE_BYTES);
  link->kept = 0;
}

void vv_meeting_tell_one(struct vv_meeting *meeting, uint32_t rank, const struct vv_letter_note *note) {
  struct vv_meeting_link *link = &meeting->links[rank];
  if (link->fd < 0) return;
  if (link->kept == VV_MEETING_NOTES_AT_ONCE) send_kept(link);
  uint8_t *place = link->outbound + (size_t)link->kept++ * VV_LETTER_NOTE_BYTES;
  vv_letter_note_emit(meeting->key, &(struct vv_letter_way){meeting->rank, rank, link->sent++}, note, place);
  meeting->keeps = true;
}

void vv_meeting_send(struct vv_meeting *meeting) {
  if (!meeting->keeps) return;
  meeting->keeps = false;
  for (uint32_t rank = 0; rank < meeting->ranks; rank++) send_kept(&meeting->links[rank]);
}

void vv_meeting_tell(struct vv_meeting *meeting, const struct vv_letter_note *note) {
  for (uint32_t rank = 0; rank < meeting->ranks; rank++) vv_meeting_tell_one(meeting, rank, note);
}

bool vv_meeting_hear(struct vv_meeting *meeting, uint32_t rank, struct vv_letter_note *note) {
  struct vv_meeting_link *link = &meeting->links[rank];
  note->kind = VV_LETTER_NOTHING;
  if (link->fd < 0) return false;
  const ssize_t got = recv(link->fd, link->bytes + link->got, sizeof link->bytes - link->got, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (got > 0) link->got += (size_t)got;
  if (got > 0 && link->got < sizeof link->bytes) return true; /* the rest is under way */
  const struct vv_letter_way way = {rank, meeting->rank, link->heard++};
  if (got <= 0 || !vv_letter_note_parse(meeting->key, &way, link->bytes, note)) {
    hang_up(link);
    return false;
  }
  link->got = 0;
  return true;
}

/* Agreements */

static void say_now(struct vv_meeting *meeting, const struct vv_letter_note *note) {
  vv_meeting_tell(meeting, note);
  vv_meeting_send(meeting);
}

static struct vv_letter_refusal about(uint32_t rank, enum vv_letter_why why) {
  return (struct vv_letter_refusal){.why = why, .rank = rank};
}

/* Takes what a rank has said in an agreement. True: its values; else *refusal may say why there will be none. */
static bool take(struct vv_meeting *meeting, uint32_t rank, struct vv_letter_note *note,
                 struct vv_letter_refusal *refusal) {
  if (!vv_meeting_hear(meeting, rank, note)) *refusal = about(rank, VV_LETTER_DIED);
  if (note->kind == VV_LETTER_WORD) *refusal = about(rank, VV_LETTER_GAVE_UP);
  if (vv_letter_is_lost(note, refusal) && refusal->rank >= meeting->ranks) *refusal = about(rank, VV_LETTER_GAVE_UP);
  return note->kind == VV_LETTER_VALUES;
}

/* The least of what all linked ranks say. 0, or -1 and *refusal. Whoever dies is found at once, not in its turn. */
static int gather(struct vv_meeting *meeting, uint32_t least[VV_MEETING_VALUES], vv_ns deadline_ns,
                  struct vv_letter_refusal *refusal) {
  uint32_t missing = meeting->rank == 0 ? meeting->ranks - 1 : 1, first = meeting->rank == 0;
  for (uint32_t rank = 0; rank < meeting->ranks; rank++) {
    meeting->fds[rank] = (struct pollfd){.fd = meeting->links[rank].fd, .events = POLLIN};
    if (rank >= first && rank - first < missing && meeting->links[rank].fd < 0) *refusal = about(rank, VV_LETTER_DIED);
  }
  while (missing > 0 && refusal->why == 0) {
    const int ready = poll(meeting->fds, meeting->ranks, vv_clock_left_ms(deadline_ns));
    while (meeting->fds[first].fd < 0) first++; /* who has not answered yet */
    if (ready <= 0 && vv_clock_ns() >= deadline_ns) *refusal = about(first, VV_LETTER_SILENT);
    for (uint32_t rank = first; ready > 0 && rank < meeting->ranks; rank++) {
      struct vv_letter_note note;
      if (!meeting->fds[rank].revents || !take(meeting, rank, &note, refusal)) continue;
      for (int i = 0; i < VV_MEETING_VALUES; i++) {
        if (note.numbers[i] < least[i]) least[i] = note.numbers[i];
      }
      meeting->fds[rank].fd = -1;
      missing--;
    }
  }
  return refusal->why == 0 ? 0 : -1;
}

int vv_meeting_agree(struct vv_meeting *meeting, uint32_t values[VV_MEETING_VALUES], vv_ns deadline_ns,
                     struct vv_error *error) {
  struct vv_letter_note note = {.kind = VV_LETTER_VALUES};
  struct vv_letter_refusal refusal = {0};
  memcpy(note.numbers, values, sizeof note.numbers);
  if (meeting->rank != 0) say_now(meeting, &note);
  if (gather(meeting, note.numbers, deadline_ns, &refusal) != 0) {
    note = vv_letter_lost(&refusal);
    if (meeting->rank == 0) say_now(meeting, &note);
    meeting->lost = refusal.rank;
    return vv_refusal_error(&refusal, meeting->ranks, &meeting->peers[refusal.rank], error);
  }
  if (meeting->rank == 0) say_now(meeting, &note);
  memcpy(values, note.numbers, sizeof note.numbers);
  return 0;
}

void vv_meeting_close(struct vv_meeting *meeting) {
  for (uint32_t rank = 0; meeting->links && rank < meeting->ranks; rank++) {
    if (meeting->links[rank].fd >= 0) hang_up(&meeting->links[rank]);
  }
  free(meeting->peers);
  free(meeting->orders);
  free(meeting->links);
  free(meeting->fds);
  explicit_bzero(meeting, sizeof *meeting);
}
