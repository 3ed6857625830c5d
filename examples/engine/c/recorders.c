// SPDX-License-Identifier: MIT
// Threads that are handed work in rounds.
#include <pthread.h>
#include <stdlib.h>

#include "engine.h"

struct Recorders {
  pthread_mutex_t mutex;
  pthread_cond_t begins, ends;
  uint32_t threads, running, round;
  bool over;
  Work work;
  void* user;
  kiln_result result;
  kiln_error error;
  struct Seat {
    Recorders* recorders;
    uint32_t number;
    pthread_t thread;
  } seats[kMostThreads];
};

static void* live(void* seat_of) {
  const struct Seat* const seat = seat_of;
  Recorders* const recorders = seat->recorders;
  uint32_t seen = 0;
  pthread_mutex_lock(&recorders->mutex);
  for (;;) {
    while (!recorders->over && recorders->round == seen)
      pthread_cond_wait(&recorders->begins, &recorders->mutex);
    if (recorders->over) break;
    seen = recorders->round;
    pthread_mutex_unlock(&recorders->mutex);
    kiln_error error = NULL;
    const kiln_result result = recorders->work(recorders->user, seat->number, &error);
    pthread_mutex_lock(&recorders->mutex);
    // The first one counts.
    if (result && !recorders->result) {
      recorders->result = result;
      recorders->error = error;
    } else {
      kiln_error_destroy(error);
    }
    if (--recorders->running == 0) pthread_cond_signal(&recorders->ends);
  }
  pthread_mutex_unlock(&recorders->mutex);
  return NULL;
}

Recorders* recorders_create(uint32_t threads) {
  Recorders* const recorders = calloc(1, sizeof *recorders);
  if (!recorders) return NULL;
  pthread_mutex_init(&recorders->mutex, NULL);
  pthread_cond_init(&recorders->begins, NULL);
  pthread_cond_init(&recorders->ends, NULL);
  for (uint32_t i = 0; i < threads; ++i) {
    struct Seat* const seat = &recorders->seats[i];
    seat->recorders = recorders;
    seat->number = i;
    if (pthread_create(&seat->thread, NULL, live, seat)) break;
    ++recorders->threads;
  }
  if (recorders->threads == threads) return recorders;
  recorders_destroy(recorders);
  return NULL;
}

kiln_result recorders_run(Recorders* recorders, Work work, void* user, kiln_error* error) {
  pthread_mutex_lock(&recorders->mutex);
  recorders->work = work;
  recorders->user = user;
  recorders->running = recorders->threads;
  recorders->result = KILN_SUCCESS;
  recorders->error = NULL;
  ++recorders->round;
  pthread_cond_broadcast(&recorders->begins);
  while (recorders->running) pthread_cond_wait(&recorders->ends, &recorders->mutex);
  *error = recorders->error;
  const kiln_result result = recorders->result;
  pthread_mutex_unlock(&recorders->mutex);
  return result;
}

void recorders_destroy(Recorders* recorders) {
  if (!recorders) return;
  pthread_mutex_lock(&recorders->mutex);
  recorders->over = true;
  pthread_cond_broadcast(&recorders->begins);
  pthread_mutex_unlock(&recorders->mutex);
  for (uint32_t i = 0; i < recorders->threads; ++i) pthread_join(recorders->seats[i].thread, NULL);
  pthread_cond_destroy(&recorders->ends);
  pthread_cond_destroy(&recorders->begins);
  pthread_mutex_destroy(&recorders->mutex);
  free(recorders);
}
