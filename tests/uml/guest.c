/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The only program of a guest kernel: its init. It loads the LLC modules and
 * then does what it is told, line by line, on the serial line /dev/ttyS0:
 *
 *   up IFACE MAC MTU ADDRESS        the interface, with an IPv4 address in a /24
 *   socket stream|dgram SAP         ok N: an AF_LLC socket bound to that SAP
 *   listen N                        ok
 *   accept N                        ok M MAC SAP
 *   connect N MAC SAP               ok
 *   option N NAME VALUE             ok: retry, ack, poll, reject, busy (seconds), window
 *   send N BYTES                    ok BYTES: the next bytes of the stream (stream.h)
 *   receive N BYTES                 ok BYTES WRONG; fewer bytes: the other side closed
 *   sendto N MAC SAP KIND BYTES     ok BYTES: one datagram; KIND: ui, xid, test
 *   receivefrom N                   ok MAC SAP BYTES WRONG
 *   close N                         ok
 *   run PROGRAM ARGUMENT...         ok STATUS, after its output, each line behind "| "
 *   start TAG VERB...               any of these beside the others; its answers begin with TAG
 *   poweroff
 *
 * An answer is "ok ..." or "failed ERRNO TEXT". Numbers are decimal, SAPs as strtol reads them.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <linux/llc.h>

#include "stream.h"

enum { WORDS_MAX = 32, LINE_MAX_BYTES = 1024, PIECE_BYTES = 16384, DATAGRAM_BYTES = 2048, FDS_MAX = 256 };
enum { PATIENCE_S = 120, RECEIVE_BUFFER_BYTES = 16 << 20 };

static int line_fd;
static const char *tag = "";                  /* of the answers of this process, with a space behind it */
static uint64_t *sent_bytes, *received_bytes; /* by descriptor; shared with whatever was started */
static uint8_t own_mac[IFHWADDRLEN];

__attribute__((format(printf, 1, 2))) static void answer(const char *format, ...) {
  char text[LINE_MAX_BYTES];
  int head = snprintf(text, sizeof text, "%s", tag);
  va_list arguments;
  va_start(arguments, format);
  int body = vsnprintf(text + head, sizeof text - (size_t)head - 1, format, arguments);
  va_end(arguments);
  size_t length = (size_t)(head + body) < sizeof text - 1 ? (size_t)(head + body) : sizeof text - 2;
  text[length++] = '\n';
  for (size_t at = 0; at < length;) {
    ssize_t wrote = write(line_fd, text + at, length - at);
    if (wrote > 0) at += (size_t)wrote;
  }
}

static void failed(void) {
  int number = errno;
  answer("failed %d %s", number, strerror(number));
}

static void answer_call(int result) {
  if (result < 0)
    failed();
  else
    answer("ok");
}

static void parse_mac(const char *text, uint8_t mac[IFHWADDRLEN]) {
  unsigned bytes[IFHWADDRLEN] = {0};
  sscanf(text, "%x:%x:%x:%x:%x:%x", &bytes[0], &bytes[1], &bytes[2], &bytes[3], &bytes[4], &bytes[5]);
  for (size_t i = 0; i < IFHWADDRLEN; i++) mac[i] = (uint8_t)bytes[i];
}

static const char *format_mac(const uint8_t *mac) {
  static char text[18];
  snprintf(text, sizeof text, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3], mac[4], mac[5]);
  return text;
}

static struct sockaddr_llc address_of(const char *mac, const char *sap) {
  struct sockaddr_llc address = {.sllc_family = AF_LLC, .sllc_arphrd = ARPHRD_ETHER};
  address.sllc_sap = (unsigned char)strtol(sap, NULL, 0);
  parse_mac(mac, address.sllc_mac);
  return address;
}

/* the interface -------------------------------------------------------- */

static int set_up(char **words) {
  int fd = socket(AF_INET, SOCK_DGRAM, 0);
  struct ifreq ask = {0};
  strncpy(ask.ifr_name, words[1], IFNAMSIZ - 1);
  parse_mac(words[2], own_mac);
  ask.ifr_hwaddr.sa_family = ARPHRD_ETHER;
  memcpy(ask.ifr_hwaddr.sa_data, own_mac, IFHWADDRLEN);
  int result = ioctl(fd, SIOCSIFHWADDR, &ask);
  ask.ifr_mtu = atoi(words[3]);
  if (result == 0) result = ioctl(fd, SIOCSIFMTU, &ask);
  struct sockaddr_in address = {.sin_family = AF_INET};
  inet_pton(AF_INET, words[4], &address.sin_addr);
  memcpy(&ask.ifr_addr, &address, sizeof address);
  if (result == 0) result = ioctl(fd, SIOCSIFADDR, &ask);
  inet_pton(AF_INET, "255.255.255.0", &address.sin_addr);
  memcpy(&ask.ifr_netmask, &address, sizeof address);
  if (result == 0) result = ioctl(fd, SIOCSIFNETMASK, &ask);
  ask.ifr_flags = IFF_UP | IFF_RUNNING;
  if (result == 0) result = ioctl(fd, SIOCSIFFLAGS, &ask);
  close(fd);
  return result;
}

/* What the guest says to its own addresses goes through here. */
static void set_loopback_up(void) {
  int fd = socket(AF_INET, SOCK_DGRAM, 0);
  struct ifreq ask = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
  ioctl(fd, SIOCSIFFLAGS, &ask);
  close(fd);
}

static void verb_up(char **words) {
  answer_call(set_up(words));
}

/* sockets -------------------------------------------------------------- */

/* The kernel throws a frame away that it has acknowledged when the receive buffer is full: make that large. */
static int prepare(int fd) {
  struct timeval patience = {.tv_sec = PATIENCE_S};
  int bytes = RECEIVE_BUFFER_BYTES;
  if (fd >= FDS_MAX) return -1;
  sent_bytes[fd] = received_bytes[fd] = 0;
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  return setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes);
}

static void verb_socket(char **words) {
  struct sockaddr_llc own = {.sllc_family = AF_LLC, .sllc_arphrd = ARPHRD_ETHER};
  own.sllc_sap = (unsigned char)strtol(words[2], NULL, 0);
  memcpy(own.sllc_mac, own_mac, IFHWADDRLEN);
  int fd = socket(AF_LLC, strcmp(words[1], "stream") == 0 ? SOCK_STREAM : SOCK_DGRAM, 0);
  if (fd < 0 || prepare(fd) != 0 || bind(fd, (struct sockaddr *)&own, sizeof own) != 0) {
    failed();
    if (fd >= 0) close(fd);
    return;
  }
  answer("ok %d", fd);
}

static void verb_listen(char **words) {
  answer_call(listen(atoi(words[1]), 8));
}

static void verb_accept(char **words) {
  struct sockaddr_llc peer;
  socklen_t length = sizeof peer;
  int fd = accept(atoi(words[1]), (struct sockaddr *)&peer, &length);
  if (fd < 0 || prepare(fd) != 0)
    failed();
  else
    answer("ok %d %s %d", fd, format_mac(peer.sllc_mac), peer.sllc_sap);
}

static void verb_connect(char **words) {
  struct sockaddr_llc peer = address_of(words[2], words[3]);
  answer_call(connect(atoi(words[1]), (struct sockaddr *)&peer, sizeof peer));
}

static void verb_option(char **words) {
  static const struct {
    const char *word;
    int option;
  } table[] = {
      {"retry", LLC_OPT_RETRY},        {"ack", LLC_OPT_ACK_TMR_EXP},   {"poll", LLC_OPT_P_TMR_EXP},
      {"reject", LLC_OPT_REJ_TMR_EXP}, {"busy", LLC_OPT_BUSY_TMR_EXP}, {"window", LLC_OPT_TX_WIN},
  };
  int value = atoi(words[3]);
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    if (strcmp(words[2], table[i].word) != 0) continue;
    return answer_call(setsockopt(atoi(words[1]), SOL_LLC, table[i].option, &value, sizeof value));
  }
  errno = ENOPROTOOPT;
  failed();
}

static void verb_send(char **words) {
  static uint8_t piece[PIECE_BYTES];
  int fd = atoi(words[1]);
  uint64_t until = sent_bytes[fd] + strtoull(words[2], NULL, 10), from = sent_bytes[fd];
  while (sent_bytes[fd] < until) {
    size_t count = until - sent_bytes[fd] < sizeof piece ? (size_t)(until - sent_bytes[fd]) : sizeof piece;
    stream_fill(sent_bytes[fd], piece, count);
    ssize_t sent = send(fd, piece, count, MSG_NOSIGNAL);
    if (sent < 0 && errno != EINTR) return failed();
    if (sent > 0) sent_bytes[fd] += (uint64_t)sent;
  }
  answer("ok %llu", (unsigned long long)(until - from));
}

static void verb_receive(char **words) {
  static uint8_t piece[PIECE_BYTES];
  int fd = atoi(words[1]);
  uint64_t until = received_bytes[fd] + strtoull(words[2], NULL, 10), from = received_bytes[fd];
  size_t wrong = 0;
  while (received_bytes[fd] < until) {
    size_t count = until - received_bytes[fd] < sizeof piece ? (size_t)(until - received_bytes[fd]) : sizeof piece;
    ssize_t got = recv(fd, piece, count, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed();
    if (got == 0) break;
    wrong += stream_wrong(received_bytes[fd], piece, (size_t)got);
    received_bytes[fd] += (uint64_t)got;
  }
  answer("ok %llu %zu", (unsigned long long)(received_bytes[fd] - from), wrong);
}

static void verb_sendto(char **words) {
  static uint8_t datagram[DATAGRAM_BYTES];
  struct sockaddr_llc peer = address_of(words[2], words[3]);
  peer.sllc_xid = strcmp(words[4], "xid") == 0;
  peer.sllc_test = strcmp(words[4], "test") == 0;
  size_t count = strtoul(words[5], NULL, 10) % sizeof datagram;
  stream_fill(0, datagram, count);
  ssize_t sent = sendto(atoi(words[1]), datagram, count, 0, (struct sockaddr *)&peer, sizeof peer);
  if (sent < 0) return failed();
  answer("ok %zd", sent);
}

static void verb_receivefrom(char **words) {
  static uint8_t datagram[DATAGRAM_BYTES];
  struct sockaddr_llc peer;
  socklen_t length = sizeof peer;
  ssize_t got = recvfrom(atoi(words[1]), datagram, sizeof datagram, 0, (struct sockaddr *)&peer, &length);
  if (got < 0) return failed();
  answer("ok %s %d %zd %zu", format_mac(peer.sllc_mac), peer.sllc_sap, got, stream_wrong(0, datagram, (size_t)got));
}

static void verb_close(char **words) {
  answer_call(close(atoi(words[1])));
}

/* programs ------------------------------------------------------------- */

static pid_t start_program(char **words, int output) {
  pid_t child = fork();
  if (child != 0) return child;
  int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  execv(words[1], words + 1);
  _exit(127);
}

static void verb_run(char **words) {
  int ends[2], status = 0;
  char *text = NULL;
  size_t room = 0;
  if (pipe2(ends, O_CLOEXEC) != 0) return failed();
  pid_t child = start_program(words, ends[1]);
  close(ends[1]);
  FILE *output = fdopen(ends[0], "r");
  for (ssize_t length; (length = getline(&text, &room, output)) > 0;) {
    answer("| %.*s", (int)(text[length - 1] == '\n' ? length - 1 : length), text);
  }
  fclose(output);
  free(text);
  waitpid(child, &status, 0);
  answer("ok %d", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

/* lines ---------------------------------------------------------------- */

static void verb_poweroff(char **words) {
  (void)words;
  answer("ok");
  reboot(RB_POWER_OFF);
}

static void obey(char **words, int count);

static void verb_start(char **words) {
  int count = 0;
  while (words[count]) count++;
  if (fork() != 0) return;
  static char own_tag[64];
  snprintf(own_tag, sizeof own_tag, "%s ", words[1]);
  tag = own_tag;
  obey(words + 2, count - 2);
  _exit(0);
}

static const struct {
  const char *word;
  int words; /* at least, with the verb */
  void (*obey)(char **words);
} verbs[] = {
    {"up", 5, verb_up},         {"socket", 3, verb_socket},     {"listen", 2, verb_listen},
    {"accept", 2, verb_accept}, {"connect", 4, verb_connect},   {"option", 4, verb_option},
    {"send", 3, verb_send},     {"receive", 3, verb_receive},   {"sendto", 6, verb_sendto},
    {"close", 2, verb_close},   {"run", 2, verb_run},           {"receivefrom", 2, verb_receivefrom},
    {"start", 3, verb_start},   {"poweroff", 1, verb_poweroff},
};

static void obey(char **words, int count) {
  for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
    if (strcmp(words[0], verbs[i].word) == 0 && count >= verbs[i].words) return verbs[i].obey(words);
  }
  errno = EINVAL;
  failed();
}

static void obey_line(char *line) {
  char *words[WORDS_MAX + 1] = {NULL}, *rest = NULL;
  int count = 0;
  for (char *word = strtok_r(line, " \n", &rest); word && count < WORDS_MAX; word = strtok_r(NULL, " \n", &rest)) {
    words[count++] = word;
  }
  if (count > 0) obey(words, count);
  while (waitpid(-1, NULL, WNOHANG) > 0) continue;
}

static bool load(const char *path) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  bool loaded = fd >= 0 && syscall(SYS_finit_module, fd, "", 0) == 0;
  if (!loaded) printf("cannot load %s: %s\n", path, strerror(errno));
  if (fd >= 0) close(fd);
  return loaded;
}

static FILE *open_line(void) {
  struct termios raw;
  line_fd = open("/dev/ttyS0", O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (line_fd < 0 || tcgetattr(line_fd, &raw) != 0) return NULL;
  cfmakeraw(&raw);
  tcsetattr(line_fd, TCSANOW, &raw);
  return fdopen(line_fd, "r");
}

int main(void) {
  struct utsname kernel;
  char line[LINE_MAX_BYTES];
  sent_bytes = mmap(NULL, 2 * FDS_MAX * sizeof *sent_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  received_bytes = sent_bytes + FDS_MAX;
  mkdir("/proc", 0755);
  mkdir("/dev", 0755);
  mount("proc", "/proc", "proc", 0, NULL);
  mount("dev", "/dev", "devtmpfs", 0, NULL);
  uname(&kernel);
  FILE *lines = open_line();
  if (!lines || !load("/llc.ko") || !load("/llc2.ko")) {
    printf("the guest has no serial line, or no LLC: %s\n", strerror(errno));
    reboot(RB_POWER_OFF);
  }
  set_loopback_up();
  answer("ready %s", kernel.release);
  while (fgets(line, sizeof line, lines)) obey_line(line);
  reboot(RB_POWER_OFF);
}
