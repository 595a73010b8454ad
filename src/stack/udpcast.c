/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stack udpcast: a message by udp-sender and udp-receiver of UDPcast, which
 * take it from and give it to us through pipes.
 *
 * udp-sender starts a session when all receivers have found it, and only then
 * looks for its input: the time of a message begins just before we write it, and
 * ends when the last receiver has written all of it. It takes a message for one
 * receiver to that one's own address, and for several to a multicast group.
 *
 * Two options are not as they come, and concern set-up alone: the receivers end
 * at once after a message, and the sender looks every 20 ms, not every 2 s,
 * whether all are there.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/time.h"
#include "stack/program.h"

#define PACKAGE   "udpcast"
#define PORTS     2 /* an even one and the next */
#define LOOK_MS   "20"
#define FOUND_MAX "600" /* seconds until a receiver whose launcher was killed gives up */

struct vv_end {
  struct vv_stack_config config;
  struct vv_program_place place;
  struct vv_program program;
  vv_ns began_ns, setup_ns; /* near: of the message that was sent last */
  size_t got_bytes;         /* far: of the message that is coming */
  bool whole;               /* far: it has come, but its receiver may still run */
};

static struct vv_end *udpcast_open(const struct vv_stack_config *config, char contact[VV_STACK_CONTACT_MAX],
                                   struct vv_error *error) {
  const char *program = config->far ? "udp-receiver" : "udp-sender";
  struct vv_end *end = calloc(1, sizeof *end);
  if (!end) {
    vv_error_set(error, "no-memory", "no memory for an end");
    return NULL;
  }
  end->config = *config;
  end->program.id = "udpcast";
  vv_child_init(&end->program.child);
  if (vv_program_place(config, program, PACKAGE, PORTS, &end->place, error) != 0) {
    free(end);
    return NULL;
  }
  snprintf(contact, VV_STACK_CONTACT_MAX, "%s", config->address);
  return end;
}

/* near ----------------------------------------------------------------- */

static int start_sender(struct vv_end *end, struct vv_error *error) {
  char receivers[12];
  snprintf(receivers, sizeof receivers, "%u", end->config.far_ends);
  char *const argv[] = {"udp-sender",     "--nokbd",         "--no-progress", "--interface",
                        end->place.iface, "--portbase",      end->place.port, "--rexmit-hello-interval",
                        LOOK_MS,          "--min-receivers", receivers,       NULL};
  return vv_child_start(&end->program.child, argv, VV_CHILD_IN | VV_CHILD_ERR, error);
}

/* From here until all receivers are there. */
static enum vv_got set_up(struct vv_end *end, struct vv_error *error) {
  char line[VV_CHILD_LINE_MAX];
  enum vv_got got = vv_program_end(&end->program, &end->config.stop, error); /* of the message before */
  if (got != VV_GOT_MESSAGE) return got;
  vv_ns start_ns = vv_clock_real_ns();
  if (start_sender(end, error) != 0) return VV_GOT_ERROR;
  got = vv_program_until(&end->program, "Starting transfer", &end->config.stop, line, error);
  end->began_ns = vv_clock_real_ns();
  end->setup_ns = end->began_ns - start_ns;
  return got;
}

static enum vv_got give(struct vv_end *end, const uint8_t *message, size_t size_bytes, struct vv_error *error) {
  while (size_bytes > 0) {
    ssize_t given = write(end->program.child.in, message, size_bytes);
    if (given < 0) {
      enum vv_got got = vv_stack_judge(&end->config.stop, "udpcast", "give to its program", error);
      if (got == VV_GOT_MESSAGE) continue;
      return got == VV_GOT_CLOSED ? vv_program_broke(&end->program, &end->config.stop, error) : got;
    }
    message += given;
    size_bytes -= (size_t)given;
  }
  vv_child_finish(&end->program.child);
  return VV_GOT_MESSAGE;
}

static enum vv_got udpcast_send(struct vv_end *end, const uint8_t *message, size_t size_bytes, struct vv_error *error) {
  enum vv_got got = set_up(end, error);
  if (got == VV_GOT_MESSAGE) got = give(end, message, size_bytes, error);
  if (got != VV_GOT_MESSAGE) vv_child_stop(&end->program.child); /* half a session is none */
  return got;
}

static int64_t udpcast_began(const struct vv_end *end, vv_ns *setup_ns) {
  *setup_ns = end->setup_ns;
  return end->began_ns;
}

/* far ------------------------------------------------------------------ */

static int start_receiver(struct vv_end *end, struct vv_error *error) {
  char *const argv[] = {"udp-receiver",    "--nokbd",        "--no-progress",
                        "--interface",     end->place.iface, "--portbase",
                        end->place.port,   "--exit-wait",    "0",
                        "--start-timeout", FOUND_MAX,        NULL};
  return vv_child_start(&end->program.child, argv, VV_CHILD_OUT | VV_CHILD_ERR, error);
}

/* What it writes next; *bytes 0: no more. */
static enum vv_got take(struct vv_end *end, uint8_t *place, size_t room, size_t *bytes, struct vv_error *error) {
  for (;;) {
    ssize_t got_bytes = read(end->program.child.out, place, room);
    *bytes = got_bytes > 0 ? (size_t)got_bytes : 0;
    if (got_bytes >= 0) return VV_GOT_MESSAGE;
    enum vv_got got = vv_stack_judge(&end->config.stop, "udpcast", "take from its program", error);
    if (got != VV_GOT_MESSAGE) return got;
  }
}

/* Lets the receiver of the message before end, which has nothing more to write. */
static enum vv_got end_receiver(struct vv_end *end, struct vv_error *error) {
  uint8_t more;
  size_t bytes;
  enum vv_got got = take(end, &more, 1, &bytes, error);
  if (got != VV_GOT_MESSAGE) return got;
  if (bytes > 0) {
    vv_error_set(error, "bad-message", "udpcast: more came than was sent");
    return VV_GOT_ERROR;
  }
  got = vv_program_end(&end->program, &end->config.stop, error);
  if (got == VV_GOT_MESSAGE) end->whole = false;
  return got;
}

static enum vv_got udpcast_recv(struct vv_end *end, uint8_t *message, size_t size_bytes, struct vv_error *error) {
  size_t bytes;
  enum vv_got got = end->whole ? end_receiver(end, error) : VV_GOT_MESSAGE;
  if (got != VV_GOT_MESSAGE) return got;
  if (end->program.child.pid == 0 && start_receiver(end, error) != 0) return VV_GOT_ERROR;
  while (end->got_bytes < size_bytes) {
    got = take(end, message + end->got_bytes, size_bytes - end->got_bytes, &bytes, error);
    if (got != VV_GOT_MESSAGE) return got;
    if (bytes == 0) return vv_program_broke(&end->program, &end->config.stop, error);
    end->got_bytes += bytes;
  }
  end->got_bytes = 0;
  end->whole = true;
  return VV_GOT_MESSAGE;
}

static const char *udpcast_way(const struct vv_end *end) {
  (void)end;
  return "udp-sender: a session set up before each message";
}

static void udpcast_close(struct vv_end *end) {
  if (!end) return;
  if (!end->config.far) vv_program_part();
  vv_child_stop(&end->program.child);
  free(end);
}

const struct vv_stack vv_stack_udpcast = {
    .id = "udpcast",
    .summary = "UDPcast: udp-sender and udp-receiver, a session for each message",
    .program = "udp-sender",
    .size_bytes_min = 1,
    .size_bytes_max = (size_t)64 << 20,
    .to_all = true,
    .joined = true,
    .path = VV_PATH_RAW, /* full datagrams with a header of 16 bytes */
    .open = udpcast_open,
    .accept = vv_program_accept,
    .connect = vv_program_connect,
    .send = udpcast_send,
    .recv = udpcast_recv,
    .way = udpcast_way,
    .began = udpcast_began,
    .close = udpcast_close,
};
