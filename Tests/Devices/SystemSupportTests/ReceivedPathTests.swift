import SystemSupport
import TestSupport
import Testing

/// Output paths that the content of an input determines.
@Suite struct ReceivedPathTests {
  private let testFolder: TemporaryFolder

  init() throws {
    testFolder = try TemporaryFolder()
    try testFolder.makeFolder("out")
    try testFolder.makeFolder("elsewhere")
    try testFolder.write("old", to: "elsewhere/a.wav")
  }

  private func errorText(_ body: () throws -> Void) -> String? {
    do {
      try body()
      return nil
    } catch {
      return "\(error)".replacing(testFolder.path + "/", with: "")
    }
  }

  private func text(_ name: String) throws -> String {
    String(decoding: try FileSystem.read(testFolder(name)), as: UTF8.self)
  }

  @Test(arguments: [
    ".profile", ".config/autostart/x.desktop", "sounds/.hidden/a.wav", "../a.wav", "a/../../b.wav",
    "./.a.wav", "./../a.wav", "...", "..",
  ]) func componentsThatStartWithADotAreRefused(name: String) {
    let expected = "\(name): has a component that starts with a dot; the file is not written"
    #expect(errorText { _ = try ReceivedPath(name, in: testFolder("out")) } == expected)
  }

  @Test(arguments: ["", "a/", "a.wav\0.txt", ".", "./", "a/."]) func namesWithoutAFileAreRefused(
    name: String
  ) {
    #expect(errorText { _ = try ReceivedPath(name, in: testFolder("out")) } != nil)
  }

  @Test func absolutePathsAreRefused() {
    #expect(
      errorText { _ = try ReceivedPath("/etc/passwd", in: "") }?.contains("is an absolute path")
        == true)
  }

  @Test func fileIsCreatedWithItsFolders() throws {
    let path = try ReceivedPath("sounds//hit.wav", in: testFolder("out"))
    #expect(path.path == testFolder("out/sounds/hit.wav"))
    #expect(try path.checkState() == .free)
    try path.createFile(Array("new".utf8))
    #expect(try text("out/sounds/hit.wav") == "new")
    #expect(try path.checkState() == .occupied)
  }

  /// Such a path names the same file without the component.
  @Test(arguments: ["./sub/a.wav", "sub/./a.wav", ".//sub/././a.wav"])
  func componentOfTheFolderItselfIsOmitted(name: String) throws {
    let path = try ReceivedPath(name, in: testFolder("out"))
    #expect(path.path == testFolder("out/sub/a.wav"))
    try path.createFile(Array("new".utf8))
    #expect(try text("out/sub/a.wav") == "new")
  }

  @Test func existingFileIsKept() throws {
    try testFolder.write("old", to: "out/a.wav")
    let path = try ReceivedPath("a.wav", in: testFolder("out"))
    #expect(
      errorText { try path.createFile([1]) }
        == "out/a.wav: already exists; choose a different output folder")
    #expect(try text("out/a.wav") == "old")
  }

  @Test func linksBelowTheFolderAreNotFollowed() throws {
    try testFolder.link("out/folder", to: testFolder("elsewhere"))
    try testFolder.link("out/file.wav", to: testFolder("elsewhere/a.wav"))
    try testFolder.link("out/broken.wav", to: testFolder("elsewhere/none.wav"))
    for (name, link) in [
      ("folder/b.wav", "folder"), ("file.wav", "file.wav"), ("broken.wav", "broken.wav"),
    ] {
      let path = try ReceivedPath(name, in: testFolder("out"))
      let errorMessage = errorText { try path.createFile([1]) }
      #expect(errorMessage?.hasPrefix("out/\(link): is a link, and links are not followed") == true)
    }
    #expect(try FileSystem.visibleNames(in: testFolder("elsewhere")) == ["a.wav"])
    #expect(try text("elsewhere/a.wav") == "old")
  }

  @Test func theFolderItselfMayBeALink() throws {
    try testFolder.link("linked", to: testFolder("out"))
    try ReceivedPath("a.wav", in: testFolder("linked")).createFile([1])
    #expect(try FileSystem.visibleNames(in: testFolder("out")) == ["a.wav"])
  }

  @Test func obstructingFilesAndFoldersAreNamed() throws {
    try testFolder.write("old", to: "out/sounds")
    try testFolder.makeFolder("out/b.wav")
    let pathBelowAFile = try ReceivedPath("sounds/a.wav", in: testFolder("out"))
    #expect(
      errorText { _ = try pathBelowAFile.checkState() }
        == "out/sounds: exists and is not a folder; choose a different output folder")
    let pathOfAFolder = try ReceivedPath("b.wav", in: testFolder("out"))
    #expect(
      errorText { _ = try pathOfAFolder.checkState() }
        == "out/b.wav: is a folder; choose a different output folder")
  }
}
