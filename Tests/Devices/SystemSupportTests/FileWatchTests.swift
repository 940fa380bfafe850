import Glibc
import TestSupport
import Testing

@testable import SystemSupport

@Suite struct FileWatchTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func written(_ name: String) -> FileWatch.Change {
    .init(path: folder(name), kind: .written)
  }

  private func removed(_ name: String) -> FileWatch.Change {
    .init(path: folder(name), kind: .removed)
  }

  @Test func writeIsReportedOnceAfterItSettles() throws {
    try folder.write("1", to: "a")
    let watch = try FileWatch([folder("a")])
    #expect(!isReadable(watch.descriptor))
    #expect(watch.timeUntilNextChange(at: .zero) == nil)
    try folder.write("2", to: "a")
    #expect(isReadable(watch.descriptor))
    #expect(try watch.pollChanges(at: .seconds(1)) == [])
    #expect(!isReadable(watch.descriptor))
    #expect(watch.timeUntilNextChange(at: .seconds(1)) == .milliseconds(30))
    #expect(try watch.pollChanges(at: .milliseconds(1_029)) == [])
    #expect(try watch.pollChanges(at: .milliseconds(1_030)) == [written("a")])
    #expect(try watch.pollChanges(at: .seconds(9)) == [])
    #expect(watch.timeUntilNextChange(at: .seconds(9)) == nil)
  }

  /// vim replaces a file in this way: it moves the old file aside, writes the new file, and removes
  /// the old one.
  @Test func replacementIsOneChange() throws {
    try folder.write("1", to: "a")
    let watch = try FileWatch([folder("a")])
    for iteration in 0..<3 {
      try folder.rename("a", to: "a~")
      try folder.write("2", to: "a")
      folder.remove("a~")
      #expect(try watch.pollChanges(at: .seconds(2 * iteration)) == [])
      #expect(try watch.pollChanges(at: .seconds(2 * iteration + 1)) == [written("a")])
      try folder.write("3", to: "b")
      try folder.rename("b", to: "a")
      #expect(try watch.pollChanges(at: .seconds(2 * iteration + 1)) == [])
      #expect(watch.timeUntilNextChange(at: .seconds(2 * iteration + 1)) == .milliseconds(30))
      #expect(try watch.pollChanges(at: .milliseconds(2_000 * iteration + 1_030)) == [written("a")])
    }
  }

  @Test func unfinishedWriteIsReportedAfterItsEnd() throws {
    let watch = try FileWatch([folder("a")])
    let descriptor = try folder.createFile("a", "half")
    #expect(try watch.pollChanges(at: .zero) == [])
    #expect(watch.timeUntilNextChange(at: .zero) == .milliseconds(300))
    try folder.append("more", to: descriptor)
    #expect(try watch.pollChanges(at: .milliseconds(200)) == [])
    #expect(watch.timeUntilNextChange(at: .milliseconds(200)) == .milliseconds(300))
    close(descriptor)
    #expect(try watch.pollChanges(at: .milliseconds(210)) == [])
    #expect(watch.timeUntilNextChange(at: .milliseconds(210)) == .milliseconds(30))
    #expect(try watch.pollChanges(at: .milliseconds(240)) == [written("a")])
  }

  @Test func constantlyChangingFileIsReportedEverySecond() throws {
    let watch = try FileWatch([folder("a")])
    let descriptor = try folder.createFile("a", "0")
    defer { close(descriptor) }
    var times: [Int] = []
    for time in stride(from: 0, to: 2_500, by: 10) {
      try folder.append("x", to: descriptor)
      if try watch.pollChanges(at: .milliseconds(time)) == [written("a")] {
        times.append(time)
      }
    }
    #expect(times == [1_000, 2_010])
  }

  @Test func removalAndReturnAreReported() throws {
    try folder.write("1", to: "a")
    let watch = try FileWatch([folder("a")])
    folder.remove("a")
    #expect(try watch.pollChanges(at: .zero) == [])
    #expect(try watch.pollChanges(at: .seconds(1)) == [removed("a")])
    try folder.write("2", to: "a")
    #expect(try watch.pollChanges(at: .seconds(2)) == [])
    #expect(try watch.pollChanges(at: .seconds(3)) == [written("a")])
    try folder.write("3", to: "a")
    folder.remove("a")
    try folder.write("4", to: "a")
    #expect(try watch.pollChanges(at: .seconds(4)) == [])
    #expect(try watch.pollChanges(at: .seconds(5)) == [written("a")])
  }

  @Test func filesAreReportedInOrderWithoutTheirNeighbors() throws {
    try folder.makeFolder("x")
    let watch = try FileWatch([folder("b"), folder("x//a"), folder("c"), folder("b")])
    try folder.write("", to: "other")
    try folder.write("", to: "x/b")
    try folder.write("", to: "x/a")
    try folder.write("", to: "b")
    #expect(try watch.pollChanges(at: .zero) == [])
    #expect(try watch.pollChanges(at: .seconds(1)) == [written("b"), written("x//a")])
  }

  @Test func foldersMayDisappearAndReturn() throws {
    try folder.makeFolder("x")
    try folder.makeFolder("x/y")
    try folder.write("1", to: "x/y/a")
    let watch = try FileWatch([folder("x/y/a")])
    folder.remove("x")
    #expect(try watch.pollChanges(at: .seconds(0)) == [])
    #expect(try watch.pollChanges(at: .seconds(1)) == [removed("x/y/a")])
    try folder.makeFolder("x")
    #expect(try watch.pollChanges(at: .seconds(2)) == [])
    try folder.makeFolder("x/y")
    #expect(try watch.pollChanges(at: .seconds(3)) == [])
    try folder.write("2", to: "x/y/a")
    #expect(try watch.pollChanges(at: .seconds(4)) == [])
    #expect(try watch.pollChanges(at: .seconds(5)) == [written("x/y/a")])
  }

  @Test func fileThatAppearsWithItsFoldersIsReported() throws {
    let watch = try FileWatch([folder("x/y/a")])
    try folder.makeFolder("x")
    try folder.makeFolder("x/y")
    try folder.write("2", to: "x/y/a")
    #expect(try watch.pollChanges(at: .seconds(0)) == [])
    #expect(try watch.pollChanges(at: .seconds(1)) == [written("x/y/a")])
    try folder.rename("x", to: "z")
    #expect(try watch.pollChanges(at: .seconds(2)) == [])
    #expect(try watch.pollChanges(at: .seconds(3)) == [removed("x/y/a")])
    try folder.write("3", to: "z/y/a")
    #expect(try watch.pollChanges(at: .seconds(4)) == [])
    #expect(watch.timeUntilNextChange(at: .seconds(4)) == nil)
    try folder.rename("z", to: "x")
    #expect(try watch.pollChanges(at: .seconds(5)) == [])
    #expect(try watch.pollChanges(at: .seconds(6)) == [written("x/y/a")])
  }

  @Test func linksAreFollowedAndWatched() throws {
    try folder.makeFolder("x")
    try folder.write("1", to: "x/one")
    try folder.write("2", to: "x/two")
    try folder.link("a", to: "x/one")
    let watch = try FileWatch([folder("a")])
    try folder.write("11", to: "x/one")
    #expect(try watch.pollChanges(at: .seconds(0)) == [])
    #expect(try watch.pollChanges(at: .seconds(1)) == [written("a")])
    folder.remove("a")
    try folder.link("a", to: "x/two")
    #expect(try watch.pollChanges(at: .seconds(2)) == [])
    #expect(try watch.pollChanges(at: .milliseconds(2_030)) == [written("a")])
    try folder.write("22", to: "x/two")
    #expect(try watch.pollChanges(at: .seconds(3)) == [])
    #expect(try watch.pollChanges(at: .seconds(4)) == [written("a")])
    try folder.write("111", to: "x/one")
    #expect(try watch.pollChanges(at: .seconds(5)) == [])
    #expect(watch.timeUntilNextChange(at: .seconds(5)) == nil)
  }

  @Test func watchedPathsCanChangeWithoutAGap() throws {
    try folder.write("1", to: "a")
    let watch = try FileWatch([folder("a"), folder("b")])
    try folder.write("22", to: "a")
    try watch.setWatchedPaths([folder("a"), folder("c")])
    #expect(watch.timeUntilNextChange(at: .zero) == .zero)
    try folder.write("3", to: "b")
    try folder.write("4", to: "c")
    #expect(try watch.pollChanges(at: .seconds(0)) == [])
    #expect(try watch.pollChanges(at: .seconds(1)) == [written("a"), written("c")])
  }

  /// The event queue of the system has space for about 16,000 events.
  @Test func overflowOfTheEventQueueLosesNoChange() throws {
    let watch = try FileWatch([folder("a")])
    for _ in 0..<20_000 {
      // The system merges equal consecutive events, so two files alternate.
      try folder.write("", to: "b")
      try folder.rename("b", to: "c")
    }
    try folder.write("1", to: "a")
    #expect(try watch.pollChanges(at: .seconds(0)) == [])
    #expect(try watch.pollChanges(at: .seconds(1)) == [written("a")])
  }

  @Test func folderMayReplaceAFileOfTheSameName() throws {
    try folder.write("1", to: "a")
    // The folder of the watched path is a file at first.
    let watch = try FileWatch([folder("a/b")])
    folder.remove("a")
    try folder.makeFolder("a")
    try folder.write("1", to: "a/b")
    #expect(try watch.pollChanges(at: .seconds(0)) == [])
    #expect(try watch.pollChanges(at: .seconds(1)) == [written("a/b")])
  }
}

/// Returns true if a descriptor is readable without waiting.
func isReadable(_ descriptor: Int32) -> Bool {
  var pollDescriptor = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
  return unsafe poll(&pollDescriptor, 1, 0) == 1
}
