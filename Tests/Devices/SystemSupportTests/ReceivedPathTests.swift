import SystemSupport
import TestSupport
import Testing

/// Output paths that the content of an input determines.
@Suite struct ReceivedPathTests {
  private let scratch: Scratch

  init() throws {
    scratch = try Scratch()
    try scratch.makeFolder("out")
    try scratch.makeFolder("elsewhere")
    try scratch.write("old", to: "elsewhere/a.wav")
  }

  private func reason(_ work: () throws -> Void) -> String? {
    do {
      try work()
      return nil
    } catch {
      return "\(error)".replacing(scratch.path + "/", with: "")
    }
  }

  private func text(_ name: String) throws -> String {
    String(decoding: try FileSystem.read(scratch(name)), as: UTF8.self)
  }

  @Test(arguments: [
    ".profile", ".config/autostart/x.desktop", "sounds/.hidden/a.wav", "../a.wav", "a/../../b.wav",
    "./a.wav", "a/.",
  ]) func partsThatStartWithADotAreRefused(name: String) {
    let expected = "\(name): has a component that starts with a dot; the file is not written"
    #expect(reason { _ = try ReceivedPath(name, in: scratch("out")) } == expected)
  }

  @Test(arguments: ["", "a/", "a.wav\0.txt"]) func namesOfNoFileAreRefused(name: String) {
    #expect(reason { _ = try ReceivedPath(name, in: scratch("out")) } != nil)
  }

  @Test func absolutePathsAreRefused() {
    #expect(
      reason { _ = try ReceivedPath("/etc/passwd", in: "") }?.contains("is an absolute path")
        == true)
  }

  @Test func aFileIsCreatedWithItsFolders() throws {
    let path = try ReceivedPath("sounds//hit.wav", in: scratch("out"))
    #expect(path.path == scratch("out/sounds/hit.wav"))
    #expect(try path.checkState() == .free)
    try path.createFile(Array("new".utf8))
    #expect(try text("out/sounds/hit.wav") == "new")
    #expect(try path.checkState() == .occupied)
  }

  @Test func anExistingFileIsKept() throws {
    try scratch.write("old", to: "out/a.wav")
    let path = try ReceivedPath("a.wav", in: scratch("out"))
    #expect(
      reason { try path.createFile([1]) }
        == "out/a.wav: already exists; choose a different output folder")
    #expect(try text("out/a.wav") == "old")
  }

  @Test func linksBelowTheFolderAreNotFollowed() throws {
    try scratch.link("out/folder", to: scratch("elsewhere"))
    try scratch.link("out/file.wav", to: scratch("elsewhere/a.wav"))
    try scratch.link("out/broken.wav", to: scratch("elsewhere/none.wav"))
    for (name, link) in [
      ("folder/b.wav", "folder"), ("file.wav", "file.wav"), ("broken.wav", "broken.wav"),
    ] {
      let path = try ReceivedPath(name, in: scratch("out"))
      let refusal = reason { try path.createFile([1]) }
      #expect(refusal?.hasPrefix("out/\(link): is a link, and links are not followed") == true)
    }
    #expect(try FileSystem.visibleNames(in: scratch("elsewhere")) == ["a.wav"])
    #expect(try text("elsewhere/a.wav") == "old")
  }

  @Test func theFolderItselfMayBeALink() throws {
    try scratch.link("linked", to: scratch("out"))
    try ReceivedPath("a.wav", in: scratch("linked")).createFile([1])
    #expect(try FileSystem.visibleNames(in: scratch("out")) == ["a.wav"])
  }

  @Test func filesAndFoldersInTheWayAreNamed() throws {
    try scratch.write("old", to: "out/sounds")
    try scratch.makeFolder("out/b.wav")
    let below = try ReceivedPath("sounds/a.wav", in: scratch("out"))
    #expect(
      reason { _ = try below.checkState() }
        == "out/sounds: exists and is not a folder; choose a different output folder")
    let folder = try ReceivedPath("b.wav", in: scratch("out"))
    #expect(
      reason { _ = try folder.checkState() }
        == "out/b.wav: is a folder; choose a different output folder")
  }
}
