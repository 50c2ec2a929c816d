# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes logs that grow for some seconds: grow.py LOG FOLDER HOSTS SECONDS SPREAD

FOLDER/1.ptl, FOLDER/2.ptl and so on get the bytes of LOG, each for SECONDS at a constant rate. The
first log begins at once and the last one SPREAD seconds later. The file FOLDER/fed has the share of
all bytes that the logs have so far.
"""
import os
import sys
import time

log, folder, hosts = sys.argv[1], sys.argv[2], int(sys.argv[3])
seconds, spread = float(sys.argv[4]), float(sys.argv[5])
with open(log, "rb") as file:
    data = file.read()
HEADER = 4096  # a reader needs it to open the log
done = [HEADER] * hosts
names = [os.path.join(folder, "%d.ptl" % (host + 1)) for host in range(hosts)]


def note_fed():
    with open(os.path.join(folder, "fed.new"), "w") as file:
        file.write("%.6f\n" % (sum(done) / len(data) / hosts))
    os.rename(os.path.join(folder, "fed.new"), os.path.join(folder, "fed"))


for name in names:
    with open(name, "wb") as file:
        file.write(data[:HEADER])
note_fed()
began = time.time()
while min(done) < len(data):
    time.sleep(0.2)
    for host in range(hosts):
        part = min(1.0, (time.time() - began - spread * host / hosts) / seconds)
        end = int(len(data) * part)
        if end > done[host]:
            with open(names[host], "ab") as file:
                file.write(data[done[host]:end])
            done[host] = end
    note_fed()
