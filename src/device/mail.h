/* device/mail.h: a page of host memory that kernels write and the host reads while later work goes on. One letter at a time: a queue's mail is read
 * before the next is marked. */
#ifndef TSR_DEVICE_MAIL_H
#define TSR_DEVICE_MAIL_H

#include "device/backend.h"

enum { TSR_QUEUE_MAIL = 4096 };

/* Where the kernels write; the host too while nothing that was launched does. */
void *tsr_queue_mail(tsr_queue *queue);
/* wait returns when all that was launched before the mark is done. No uploads in between. */
tsr_status tsr_queue_mail_mark(tsr_queue *queue);
tsr_status tsr_queue_mail_wait(tsr_queue *queue);

#endif
