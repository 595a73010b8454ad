/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/os/code.h"

#include <stddef.h>
#include <string.h>

/* By kind, then by name. */
/* clang-format off */
static const struct vv_code codes[] = {
    {"no-answer", VV_CODE_TIMEOUT, "A message was not answered, or did not arrive, within its time."},
    {"timeout", VV_CODE_TIMEOUT, "Somebody did not come, or did not answer, in time."},

    {"iface-gone", VV_CODE_GONE, "The network interface in use has been taken away."},
    {"launcher-gone", VV_CODE_GONE, "Standard input was closed: whoever started the program has ended."},
    {"link-broken", VV_CODE_GONE, "A connection of LLC has ended."},
    {"peer-gone", VV_CODE_GONE, "The other end has closed its connection."},
    {"rank-died", VV_CODE_GONE, "A rank of a group has ended without leaving, or cannot be reached."},
    {"rank-failed", VV_CODE_GONE, "A rank could not open the group; its own error says why."},
    {"rank-left", VV_CODE_GONE, "A rank has left the group before the others were done."},

    {"no-permission", VV_CODE_REFUSED, "The system does not let this user do it."},
    {"peer-error", VV_CODE_REFUSED, "The other end has an error of a kind that this end does not know."},
    {"peer-options", VV_CODE_REFUSED, "The two ends of a launch were given unlike options."},
    {"peer-version", VV_CODE_REFUSED, "The two ends of a launch are of unlike versions."},
    {"pvm-refused", VV_CODE_REFUSED, "PVM does not carry such data between these hosts."},
    {"refused", VV_CODE_REFUSED, "The other side accepts no connection."},
    {"sap-taken", VV_CODE_REFUSED, "Another program of this host has that service access point."},
    {"unreachable", VV_CODE_REFUSED, "There is no way to that address."},
    {"wrong-key", VV_CODE_REFUSED, "The other side does not hold the key of this launch, or of this job."},

    {"bad-address", VV_CODE_WRONG, "That is no numeric IPv4 or IPv6 address, or none of this host."},
    {"bad-call", VV_CODE_WRONG, "A call was made without what it is about: a group, a config or a buffer."},
    {"bad-config", VV_CODE_WRONG, "The config of a group is of another version, or a member of it is missing or impossible."},
    {"bad-key", VV_CODE_WRONG, "That is no key."},
    {"bad-port", VV_CODE_WRONG, "A group cannot meet at that port."},
    {"bad-rank", VV_CODE_WRONG, "There is no such rank in the group."},
    {"bad-sap", VV_CODE_WRONG, "That service access point is not for programs."},
    {"bad-size", VV_CODE_WRONG, "A message of that size cannot be."},
    {"bad-type", VV_CODE_WRONG, "Numbers of that type have no such reduction, or there is no such type."},
    {"calls-differ", VV_CODE_WRONG, "The ranks of a group are in unlike operations."},
    {"groups-cross", VV_CODE_WRONG, "Ranks make groups with unlike lists of ranks, or in orders that come to no end."},
    {"mpi-alone", VV_CODE_WRONG, "The launcher that started this rank is not that of its MPI library."},
    {"mpi-library", VV_CODE_WRONG, "The program runs with another MPI library than it was built for."},
    {"mpi-ranks", VV_CODE_WRONG, "A rank cannot be the end that it was started as, or there are too many."},
    {"mpi-setting", VV_CODE_WRONG, "The MPI library was set to something else than the stack that was asked for."},
    {"mtu-too-small", VV_CODE_WRONG, "The MTU of a rank's interface is too small for a group."},
    {"no-iface", VV_CODE_WRONG, "There is no such network interface, or none with that address."},
    {"no-ipv4", VV_CODE_WRONG, "A program speaks IPv4 alone, and the address is of IPv6."},
    {"no-key", VV_CODE_WRONG, "The launch key is missing, or cannot be read."},
    {"no-place", VV_CODE_WRONG, "The environment does not say which rank of a group this process is."},
    {"no-wire", VV_CODE_WRONG, "Messages of that stack are on no wire."},
    {"not-linked", VV_CODE_WRONG, "Not all ends of a group have been linked yet."},
    {"one-group", VV_CODE_WRONG, "A launch has one group, and a second was asked for."},
    {"one-host", VV_CODE_WRONG, "The ends are on one host, where that stack needs two."},
    {"rank-taken", VV_CODE_WRONG, "Two processes say that they are the same rank."},
    {"ranks-differ", VV_CODE_WRONG, "The ranks of a group count them differently."},
    {"roots-differ", VV_CODE_WRONG, "The ranks of a group name unlike roots."},
    {"size-limit", VV_CODE_WRONG, "The stack cannot carry a message of that size, or the question cannot ask it."},
    {"sizes-differ", VV_CODE_WRONG, "The ranks of a group give unlike sizes."},
    {"unknown-stack", VV_CODE_WRONG, "There is no stack of that name in this program."},
    {"usage", VV_CODE_WRONG, "The command line asks for what cannot be."},

    {"iface-down", VV_CODE_LACKING, "The network interface is down."},
    {"no-cpu", VV_CODE_LACKING, "The process cannot run on that processor."},
    {"no-descriptors", VV_CODE_LACKING, "The process may not open as many files as the group needs."},
    {"no-ethernet", VV_CODE_LACKING, "The network interface carries no Ethernet frames."},
    {"no-jumbo", VV_CODE_LACKING, "The MTU of the interface is too short for jumbo frames."},
    {"no-llc", VV_CODE_LACKING, "This kernel has no sockets of LLC type 2."},
    {"no-memory", VV_CODE_LACKING, "There is not enough memory."},
    {"no-multicast", VV_CODE_LACKING, "Datagrams to everybody do not reach all ranks of a group."},
    {"no-notices", VV_CODE_LACKING, "The system does not tell when files change."},
    {"no-output", VV_CODE_LACKING, "Standard output is closed or full."},
    {"no-pipe", VV_CODE_LACKING, "The system gives no pipe."},
    {"no-port", VV_CODE_LACKING, "No port that may be used is free."},
    {"no-program", VV_CODE_LACKING, "A program that does the work is not installed."},
    {"no-pvmd", VV_CODE_LACKING, "No PVM daemon runs on this host."},
    {"no-room", VV_CODE_LACKING, "There is no room for the files of a message."},
    {"no-stamps", VV_CODE_LACKING, "The kernel does not say when frames came."},
    {"no-tcp-state", VV_CODE_LACKING, "The system does not tell how a connection of TCP stands."},
    {"no-thread", VV_CODE_LACKING, "The system starts no other thread."},
    {"random", VV_CODE_LACKING, "The system gives no random numbers."},
    {"signal", VV_CODE_LACKING, "A signal cannot be caught, or a timer not be started."},
    {"socket", VV_CODE_LACKING, "The system refuses a call on a socket; its words are in the text."},
    {"too-many-groups", VV_CODE_LACKING, "A rank has no room for another group made of a first one."},

    {"bad-contact", VV_CODE_BROKEN, "The other end told a contact that is none of its stack."},
    {"bad-control", VV_CODE_BROKEN, "The other end said what was not due, or what makes no sense."},
    {"bad-message", VV_CODE_BROKEN, "A message came that is not the one that was due."},
    {"clock-backwards", VV_CODE_BROKEN, "The clock went back within one exchange."},
    {"clock-set", VV_CODE_BROKEN, "A clock was set while times of two hosts were compared, or does not go evenly."},
    {"exchange-failed", VV_CODE_BROKEN, "The records of the ranks of a job could not be exchanged, or are none."},
    {"flooded", VV_CODE_BROKEN, "Datagrams of strangers may crowd out those of the group."},
    {"iface-changed", VV_CODE_BROKEN, "The network interface has another MAC or MTU than before."},
    {"mpi", VV_CODE_BROKEN, "A call of the MPI library has failed; its words are in the text."},
    {"poll", VV_CODE_BROKEN, "The system's wait for input has failed."},
    {"port", VV_CODE_BROKEN, "A packet socket has failed; the system's words are in the text."},
    {"program-failed", VV_CODE_BROKEN, "A program that carries messages has ended, or said what makes no sense."},
    {"pvm", VV_CODE_BROKEN, "A call of PVM has failed."},
    {"rough-clock", VV_CODE_BROKEN, "The hosts' clocks cannot be compared well enough for the result."},

    {"barrier-clock", VV_CODE_WARNING, "Times are counted from when each end began, because clocks could not be compared."},
    {"coarse-clock", VV_CODE_WARNING, "The clock is coarse: several exchanges are timed together."},
    {"corrupt", VV_CODE_WARNING, "Messages arrived with wrong bytes."},
    {"foreign-datagrams", VV_CODE_WARNING, "Datagrams of strangers came to the ports of the launch; they change no message."},
    {"measured-in-parts", VV_CODE_WARNING, "A size was measured in parts, because the host answers no larger message."},
    {"no-trace", VV_CODE_WARNING, "An end saw nothing of a connection that was looked at; the text says why."},
    {"trace-dropped", VV_CODE_WARNING, "An end missed segments of a connection that was looked at."},
};
/* clang-format on */

const struct vv_code *vv_code_find(const char *name) {
  for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
    if (strcmp(codes[i].name, name) == 0) return &codes[i];
  }
  return NULL;
}

const char *vv_code_kind_word(enum vv_code_kind kind) {
  static const char *const words[VV_CODE_KINDS] = {
      [VV_CODE_NONE] = "none",       [VV_CODE_TIMEOUT] = "timeout", [VV_CODE_GONE] = "gone",
      [VV_CODE_REFUSED] = "refused", [VV_CODE_WRONG] = "wrong",     [VV_CODE_LACKING] = "lacking",
      [VV_CODE_BROKEN] = "broken",   [VV_CODE_WARNING] = "warning",
  };
  return words[kind];
}
