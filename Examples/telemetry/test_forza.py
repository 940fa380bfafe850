"""Packets that are made up, through a real UDP port and a real Unix socket."""
import os
import socket
import struct
import subprocess
import sys
import tempfile
import unittest

from forza import Drive

FOLDER = os.path.dirname(os.path.abspath(__file__))


def packet(revs=3000.0, gear=3, travel=0.5, racing=1, size=324):
    data = bytearray(size)
    struct.pack_into("<iI3f", data, 0, racing, 1, 8000.0, 1000.0, revs)
    struct.pack_into("<4f", data, 68, travel, 0.5, 0.5, 0.5)
    if size >= 311:
        data[{311: 307, 324: 319, 331: 307}[size]] = gear
    return bytes(data)


class DriveTests(unittest.TestCase):
    def test_the_engine_follows_the_revolutions(self):
        drive = Drive()
        first = drive.commands(packet(1000))
        self.assertEqual(first[1], "hum 1 0 3600 as engine")
        self.assertIn("set intensity 0.250 of engine over 0.02", first)
        second = drive.commands(packet(8000))
        self.assertEqual(second, ["set intensity 0.750 of engine over 0.02", "set sharpness 0.700 of engine over 0.02"])

    def test_gears_and_bumps_are_felt_once(self):
        for size in (311, 324, 331):
            drive = Drive()
            drive.commands(packet(gear=3, size=size))
            self.assertEqual(drive.commands(packet(gear=4, size=size))[2:], ["hum 1 0.3 0.06 priority 1"])
            self.assertEqual(drive.commands(packet(gear=4, size=size))[2:], [])
            self.assertEqual(drive.commands(packet(gear=4, travel=0.65, size=size))[2:], ["hum 0.600 0.5 0.04 priority 1"])

    def test_a_pause_is_silent(self):
        drive = Drive()
        drive.commands(packet(size=232))
        self.assertEqual(drive.commands(packet(racing=0)), ["stop engine"])
        self.assertEqual(drive.commands(packet(racing=0)), [])

    def test_the_program_falls_silent_without_packets(self):
        with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as server:
            path = os.path.join(folder, "s")
            server.bind(path)
            server.listen()
            server.settimeout(20)
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
                free.bind(("127.0.0.1", 0))
                port = free.getsockname()[1]
            program = subprocess.Popen([sys.executable, os.path.join(FOLDER, "forza.py"), path, str(port)])
            try:
                client, _ = server.accept()
                client.settimeout(20)
                game = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                got = b""
                while b"engine over" not in got:
                    game.sendto(packet(), ("127.0.0.1", port))
                    client.settimeout(0.5)
                    try:
                        got += client.recv(4096)
                    except TimeoutError:
                        pass
                client.settimeout(20)
                while b"stop engine" not in got:
                    got += client.recv(4096)
                self.assertTrue(got.endswith(b"stop engine\n"))
            finally:
                program.kill()
                program.wait()


if __name__ == "__main__":
    unittest.main()
