# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes logs that grow for some seconds: grow.py LOG FOLDER HOSTS SECONDS

FOLDER/1.ptl, FOLDER/2.ptl and so on get the bytes of LOG, each at the same constant rate. The file
FOLDER/began has the time of the beginning.
"""
import os
import sys
import time

log, folder, hosts, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
with open(log, "rb") as file:
    data = file.read()
# A reader needs the header of a log, so the first bytes are there at once.
done = [min(len(data), 65536)] * hosts
names = [os.path.join(folder, "%d.ptl" % (host + 1)) for host in range(hosts)]
began = time.time()
with open(os.path.join(folder, "began"), "w") as file:
    file.write("%f\n" % began)
for name in names:
    with open(name, "wb") as file:
        file.write(data[:done[0]])
while min(done) < len(data):
    time.sleep(0.2)
    part = min(1.0, (time.time() - began) / seconds)
    for host in range(hosts):
        end = int(len(data) * part)
        if end > done[host]:
            with open(names[host], "ab") as file:
                file.write(data[done[host]:end])
            done[host] = end
