/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ends of a launch joined with each other, each with every other or in pairs,
 * and one round of messages among them. The near end is number 0, the far ends
 * follow. Of two ends the one with the lower number connects. Pairs are 0 and 1,
 * 2 and 3, and so on: there is an even number of ends.
 *
 * near                                        far
 *   listen from=I          ------------->     (number K > I)   listening contact=C
 *   join to=K contact=C    ------------->     (number I > 0)   joining contact=D
 *   admit from=I contact=D ------------->     (number K)       admitted
 */
#ifndef VV_PROBE_KIT_MESH_H
#define VV_PROBE_KIT_MESH_H

#include "core/base/time.h"
#include "probe/link/fars.h"
#include "stack/flows.h"

#define VV_MESH_MAX (VV_FARS_MAX + 1)

struct vv_mesh {
  struct vv_session *session;       /* whose stack, key and payload it has; near: the first far end's */
  struct vv_end *ends[VV_MESH_MAX]; /* by number; NULL: itself, or not joined yet */
  size_t number;                    /* the own one */
  size_t count;                     /* of all ends */
  bool in_pairs;                    /* each is joined with its partner alone */
};

/* Who is joined with end number `number` of a mesh in pairs. */
static inline size_t vv_mesh_partner(size_t number) {
  return number ^ 1;
}

/* Whether so many ends are pairs, for that question. 0, or -1 and *error "usage". */
int vv_mesh_check_pairs(size_t count, const char *verb, struct vv_error *error);

/* Near: joins the ends. 0, or -1 and *error. Part in both cases. */
int vv_mesh_join(struct vv_mesh *mesh, struct vv_fars *fars, struct vv_error *error);
/* Far: answers one of the lines above. 1: it was one; 0: another line; -1 and *error. */
int vv_mesh_serve(struct vv_mesh *mesh, const char *line, struct vv_error *error);
void vv_mesh_part(struct vv_mesh *mesh);

/* Pieces that this end has sent again since it joined. */
int64_t vv_mesh_resent(const struct vv_mesh *mesh);

/* One round of an end: a message to every end that it is joined with, and one from each. */
struct vv_mesh_round {
  struct vv_mesh *mesh;
  size_t size_bytes;
  uint8_t *out;
  uint8_t *in;      /* count messages, by number of the sender */
  uint64_t seq;     /* of the round */
  vv_ns begun_ns;   /* CLOCK_REALTIME at which all begin */
  vv_ns ended_ns;   /* when this end was done; set by vv_mesh_run */
  uint32_t missing; /* messages that did not come, or did not go; set by vv_mesh_run */
  bool late;        /* begun_ns had passed when it was told; set by vv_mesh_run */
  uint32_t corrupt; /* set by vv_mesh_check */
};

/* 0, or -1 and *error "no-memory". Close it in both cases. */
int vv_mesh_round_open(struct vv_mesh_round *round, struct vv_mesh *mesh, size_t size_bytes, struct vv_error *error);
void vv_mesh_round_close(struct vv_mesh_round *round);

/*
 * Waits for begun_ns, sends and receives until all is done or stop says so (then
 * some are missing). 0, or -1 and *error.
 */
int vv_mesh_run(struct vv_mesh_round *round, const struct vv_watch_stop *stop, struct vv_error *error);
/* Looks at what came, after its time was taken. */
void vv_mesh_check(struct vv_mesh_round *round);

#endif
