/*
 * fake_ucp.h - a stand-in for UCX, for test_preload.c
 */
#ifndef PMI_PRELOAD_FAKE_UCP_H
#define PMI_PRELOAD_FAKE_UCP_H

/* What ucp_worker_progress() does. */
void fake_ucp_init(void (*progress)(void));

#endif
