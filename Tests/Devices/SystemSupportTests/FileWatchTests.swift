import Glibc
import TestSupport
import Testing

@testable import SystemSupport

@Suite struct FileWatchTests {
  let scratch: Scratch

  init() throws { scratch = try Scratch() }

  private func written(_ name: String) -> FileWatch.Change {
    .init(path: scratch(name), kind: .written)
  }

  private func removed(_ name: String) -> FileWatch.Change {
    .init(path: scratch(name), kind: .removed)
  }

  @Test func aWriteIsToldOnceWhenItHasSettled() throws {
    try scratch.write("1", to: "a")
    let watch = try FileWatch([scratch("a")])
    #expect(!isReadable(watch.descriptor))
    #expect(watch.timeUntilNextChange(at: .zero) == nil)
    try scratch.write("2", to: "a")
    #expect(isReadable(watch.descriptor))
    #expect(try watch.pollChanges(at: .seconds(1)) == [])
    #expect(!isReadable(watch.descriptor))
    #expect(watch.timeUntilNextChange(at: .seconds(1)) == .milliseconds(30))
    #expect(try watch.pollChanges(at: .milliseconds(1_029)) == [])
    #expect(try watch.pollChanges(at: .milliseconds(1_030)) == [written("a")])
    #expect(try watch.pollChanges(at: .seconds(9)) == [])
    #expect(watch.timeUntilNextChange(at: .seconds(9)) == nil)
  }

  /// As vim does it: the old file is moved aside, the new one written, the old one removed.
  @Test func aReplacementIsOneChange() throws {
    try scratch.write("1", to: "a")
    let watch = try FileWatch([scratch("a")])
    for turn in 0..<3 {
      try scratch.rename("a", to: "a~")
      try scratch.write("2", to: "a")
      scratch.remove("a~")
      #expect(try watch.pollChanges(at: .seconds(2 * turn)) == [])
      #expect(try watch.pollChanges(at: .seconds(2 * turn + 1)) == [written("a")])
      try scratch.write("3", to: "b")
      try scratch.rename("b", to: "a")
      #expect(try watch.pollChanges(at: .seconds(2 * turn + 1)) == [])
      #expect(watch.timeUntilNextChange(at: .seconds(2 * turn + 1)) == .milliseconds(30))
      #expect(try watch.pollChanges(at: .milliseconds(2_000 * turn + 1_030)) == [written("a")])
    }
  }

  @Test func aWriterWhoHasNotFinishedIsWaitedFor() throws {
    let watch = try FileWatch([scratch("a")])
    let descriptor = try scratch.begin("a", "half")
    #expect(try watch.pollChanges(at: .zero) == [])
    #expect(watch.timeUntilNextChange(at: .zero) == .milliseconds(300))
    try scratch.append("more", to: descriptor)
    #expect(try watch.pollChanges(at: .milliseconds(200)) == [])
    #expect(watch.timeUntilNextChange(at: .milliseconds(200)) == .milliseconds(300))
    close(descriptor)
    #expect(try watch.pollChanges(at: .milliseconds(210)) == [])
    #expect(watch.timeUntilNextChange(at: .milliseconds(210)) == .milliseconds(30))
    #expect(try watch.pollChanges(at: .milliseconds(240)) == [written("a")])
  }

  @Test func aFileThatNeverRestsIsToldEverySecond() throws {
    let watch = try FileWatch([scratch("a")])
    let descriptor = try scratch.begin("a", "0")
    defer { close(descriptor) }
    var times: [Int] = []
    for time in stride(from: 0, to: 2_500, by: 10) {
      try scratch.append("x", to: descriptor)
      if try watch.pollChanges(at: .milliseconds(time)) == [written("a")] {
        times.append(time)
      }
    }
    #expect(times == [1_000, 2_010])
  }

  @Test func removalAndReturnAreTold() throws {
    try scratch.write("1", to: "a")
    let watch = try FileWatch([scratch("a")])
    scratch.remove("a")
    #expect(try watch.pollChanges(at: .zero) == [])
    #expect(try watch.pollChanges(at: .seconds(1)) == [removed("a")])
    try scratch.write("2", to: "a")
    #expect(try watch.pollChanges(at: .seconds(2)) == [])
    #expect(try watch.pollChanges(at: .seconds(3)) == [written("a")])
    try scratch.write("3", to: "a")
    scratch.remove("a")
    try scratch.write("4", to: "a")
    #expect(try watch.pollChanges(at: .seconds(4)) == [])
    #expect(try watch.pollChanges(at: .seconds(5)) == [written("a")])
  }

  @Test func severalFilesAreToldInTheirOrderAndNeighboursNot() throws {
    try scratch.makeFolder("x")
    let watch = try FileWatch([scratch("b"), scratch("x//a"), scratch("c"), scratch("b")])
    try scratch.write("", to: "other")
    try scratch.write("", to: "x/b")
    try scratch.write("", to: "x/a")
    try scratch.write("", to: "b")
    #expect(try watch.pollChanges(at: .zero) == [])
    #expect(try watch.pollChanges(at: .seconds(1)) == [written("b"), written("x//a")])
  }

  @Test func foldersMayVanishAndReturn() throws {
    try scratch.makeFolder("x")
    try scratch.makeFolder("x/y")
    try scratch.write("1", to: "x/y/a")
    let watch = try FileWatch([scratch("x/y/a")])
    scratch.remove("x")
    #expect(try watch.pollChanges(at: .seconds(0)) == [])
    #expect(try watch.pollChanges(at: .seconds(1)) == [removed("x/y/a")])
    try scratch.makeFolder("x")
    #expect(try watch.pollChanges(at: .seconds(2)) == [])
    try scratch.makeFolder("x/y")
    #expect(try watch.pollChanges(at: .seconds(3)) == [])
    try scratch.write("2", to: "x/y/a")
    #expect(try watch.pollChanges(at: .seconds(4)) == [])
    #expect(try watch.pollChanges(at: .seconds(5)) == [written("x/y/a")])
  }

  @Test func whatComesWithItsFoldersIsSeen() throws {
    let watch = try FileWatch([scratch("x/y/a")])
    try scratch.makeFolder("x")
    try scratch.makeFolder("x/y")
    try scratch.write("2", to: "x/y/a")
    #expect(try watch.pollChanges(at: .seconds(0)) == [])
    #expect(try watch.pollChanges(at: .seconds(1)) == [written("x/y/a")])
    try scratch.rename("x", to: "z")
    #expect(try watch.pollChanges(at: .seconds(2)) == [])
    #expect(try watch.pollChanges(at: .seconds(3)) == [removed("x/y/a")])
    try scratch.write("3", to: "z/y/a")
    #expect(try watch.pollChanges(at: .seconds(4)) == [])
    #expect(watch.timeUntilNextChange(at: .seconds(4)) == nil)
    try scratch.rename("z", to: "x")
    #expect(try watch.pollChanges(at: .seconds(5)) == [])
    #expect(try watch.pollChanges(at: .seconds(6)) == [written("x/y/a")])
  }

  @Test func linksAreFollowedAndWatched() throws {
    try scratch.makeFolder("x")
    try scratch.write("1", to: "x/one")
    try scratch.write("2", to: "x/two")
    try scratch.link("a", to: "x/one")
    let watch = try FileWatch([scratch("a")])
    try scratch.write("11", to: "x/one")
    #expect(try watch.pollChanges(at: .seconds(0)) == [])
    #expect(try watch.pollChanges(at: .seconds(1)) == [written("a")])
    scratch.remove("a")
    try scratch.link("a", to: "x/two")
    #expect(try watch.pollChanges(at: .seconds(2)) == [])
    #expect(try watch.pollChanges(at: .milliseconds(2_030)) == [written("a")])
    try scratch.write("22", to: "x/two")
    #expect(try watch.pollChanges(at: .seconds(3)) == [])
    #expect(try watch.pollChanges(at: .seconds(4)) == [written("a")])
    try scratch.write("111", to: "x/one")
    #expect(try watch.pollChanges(at: .seconds(5)) == [])
    #expect(watch.timeUntilNextChange(at: .seconds(5)) == nil)
  }

  @Test func filesCanBeExchangedWithoutAGap() throws {
    try scratch.write("1", to: "a")
    let watch = try FileWatch([scratch("a"), scratch("b")])
    try scratch.write("22", to: "a")
    try watch.setWatchedPaths([scratch("a"), scratch("c")])
    #expect(watch.timeUntilNextChange(at: .zero) == .zero)
    try scratch.write("3", to: "b")
    try scratch.write("4", to: "c")
    #expect(try watch.pollChanges(at: .seconds(0)) == [])
    #expect(try watch.pollChanges(at: .seconds(1)) == [written("a"), written("c")])
  }

  /// The system remembers some sixteen thousand events at most.
  @Test func moreThanTheSystemRemembersIsLookedAtAnew() throws {
    let watch = try FileWatch([scratch("a")])
    for _ in 0..<20_000 {
      // Events that equal their predecessors are merged, so two files take turns.
      try scratch.write("", to: "b")
      try scratch.rename("b", to: "c")
    }
    try scratch.write("1", to: "a")
    #expect(try watch.pollChanges(at: .seconds(0)) == [])
    #expect(try watch.pollChanges(at: .seconds(1)) == [written("a")])
  }

  @Test func aFolderMayTakeTheNameOfAFile() throws {
    try scratch.write("1", to: "a")
    // A file in the place of a folder may give way to one.
    let watch = try FileWatch([scratch("a/b")])
    scratch.remove("a")
    try scratch.makeFolder("a")
    try scratch.write("1", to: "a/b")
    #expect(try watch.pollChanges(at: .seconds(0)) == [])
    #expect(try watch.pollChanges(at: .seconds(1)) == [written("a/b")])
  }
}

/// Whether a descriptor has something to read now.
func isReadable(_ descriptor: Int32) -> Bool {
  var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
  return unsafe poll(&ready, 1, 0) == 1
}
