/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For stacks that are programs of others, which send one message to many: one
 * of them runs on the near host, one on each far host. Each message is a session
 * of its own: the programs find each other, then it travels, then they part.
 * What such a stack tells as its time begins when the session stands
 * (vv_stack.began); what the session took to set up is told apart.
 */
#ifndef VV_STACK_PROGRAM_H
#define VV_STACK_PROGRAM_H

#include "core/base/time.h"
#include "io/os/child.h"
#include "stack/stack.h"

#define VV_PROGRAM_ALL_MAX 4096 /* addresses of as many far ends as a launch can have */

struct vv_program {
  const char *id; /* of the stack, for errors */
  struct vv_child child;
};

/* What an end of such a stack needs to know of its place, as the programs want it: in words. */
struct vv_program_place {
  char iface[VV_IFACE_NAME_MAX];
  char port[8];
};

/*
 * For open: finds the end's place, with the first of `ports` consecutive ports
 * that the launch key names, a multiple of `ports`. 0, or -1 and *error: "no-program"
 * when this host has not got `program`, "no-ipv4", "no-port", those of
 * vv_stack_iface.
 */
int vv_program_place(const struct vv_stack_config *config, const char *program, const char *package, uint16_t ports,
                     struct vv_program_place *place, struct vv_error *error);

/*
 * Hears the program until it says a line with these words: VV_GOT_MESSAGE, and
 * the line. VV_GOT_STOPPED when stop says so, and the same call goes on;
 * VV_GOT_ERROR and *error "program-failed" when it ends before, with what it said
 * last.
 */
enum vv_got vv_program_until(struct vv_program *program, const char *words, const struct vv_watch_stop *stop,
                             char line[VV_CHILD_LINE_MAX], struct vv_error *error);
/* Waits until it has ended well, or was never started: the same results. */
enum vv_got vv_program_end(struct vv_program *program, const struct vv_watch_stop *stop, struct vv_error *error);
/* It took or gave less than a message: waits for its end. VV_GOT_STOPPED; VV_GOT_ERROR and *error, however it ended. */
enum vv_got vv_program_broke(struct vv_program *program, const struct vv_watch_stop *stop, struct vv_error *error);

/*
 * For the stack's table. Who is there is found out anew for each message, so
 * linking ends only notes, near, who shall be: contacts are addresses, each of
 * another host. 0, or -1 and *error "one-host".
 */
int vv_program_accept(struct vv_end *end, const char *near_contact, vv_ns deadline_ns, struct vv_error *error);
int vv_program_connect(struct vv_end *end, const char *far_contact, vv_ns deadline_ns, struct vv_error *error);
/* Near: the addresses so noted, with commas between; and forgets them. */
const char *vv_program_all(void);
void vv_program_part(void);

#endif
