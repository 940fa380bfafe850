#!/usr/bin/env python3
"""Drives a shaker by the Data Out of Forza games: engine, gears and bumps, over the socket of `temblor listen`.

    temblor listen --socket /tmp/temblor.sock --profile dayton-bst-1 &
    python3 forza.py /tmp/temblor.sock 5300
"""
import socket
import struct
import sys

# Seconds without a packet, after which nothing is felt; the part of a suspension's travel within a packet that is a bump.
SILENCE, BUMP = 0.25, 0.06


class Drive:
    """What the last packet said, and the commands that follow from the next one."""

    def __init__(self):
        self.gear, self.travel, self.runs = None, None, False

    def commands(self, packet):
        racing, _, most, idle, speed = struct.unpack_from("<iI3f", packet)
        if not racing or most <= 0:
            return self.stop()
        revs = min(1, max(0, (speed - idle) / max(1, most - idle)))
        lines = [] if self.runs else ["duck 0.4 attack 0.01 release 0.2", "hum 1 0 3600 as engine"]
        self.runs = True
        lines += [f"set intensity {0.25 + 0.5 * revs:.3f} of engine over 0.02", f"set sharpness {0.7 * revs:.3f} of engine over 0.02"]
        gear = packet[{311: 307, 324: 319, 331: 307}[len(packet)]] if len(packet) in (311, 324, 331) else self.gear
        lines += ["hum 1 0.3 0.06 priority 1"] if self.gear not in (None, gear) else []
        travel = struct.unpack_from("<4f", packet, 68)
        bump = max(abs(a - b) for a, b in zip(travel, self.travel or travel))
        if bump > BUMP:
            lines.append(f"hum {min(1, 4 * bump):.3f} 0.5 0.04 priority 1")
        self.gear, self.travel = gear, travel
        return lines

    def stop(self):
        self.gear = self.travel = None
        runs, self.runs = self.runs, False
        return ["stop engine"] if runs else []


def main(path, port):
    listener = socket.socket(socket.AF_UNIX)
    listener.connect(path)
    drive, game = Drive(), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    game.bind(("", int(port)))
    game.settimeout(SILENCE)
    while True:
        try:
            packet = game.recv(1024)
            lines = drive.commands(packet) if len(packet) >= 232 else []
        except TimeoutError:
            lines = drive.stop()
        listener.sendall("".join(line + "\n" for line in lines).encode())


if __name__ == "__main__":
    main(*sys.argv[1:3])
