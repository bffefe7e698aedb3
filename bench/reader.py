"""reader.py FILE PAGES-A-SECOND: an owner who uses files: touches pages of FILE, each
as likely as any other, until its input ends

First it reads all of FILE twice, and says "READY".  Then it prints, ten times a second,
the time (CLOCK_MONOTONIC, us), how many pages it has touched, and how many of them had
to be read again, as they were in memory no more: each is a major fault of its own."""
import mmap
import random
import resource
import select
import sys
import time

PAGE = mmap.PAGESIZE


def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_majflt


def main(path, rate):
    with open(path, "rb") as f:
        pages = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)
    pages.madvise(mmap.MADV_RANDOM)
    n, touched = len(pages) // PAGE, 0
    for i in 2 * list(range(n)):
        pages[i * PAGE]
    print("READY", flush=True)
    began, before = time.monotonic(), faults()
    while not select.select([sys.stdin], [], [], 0)[0]:
        due = touched + rate // 10
        while touched < due:
            pages[random.randrange(n) * PAGE]
            touched += 1
        time.sleep(max(0, began + touched / rate - time.monotonic()))
        print(int(time.monotonic() * 1e6), touched, faults() - before,
              flush=True)


main(sys.argv[1], int(sys.argv[2]))
