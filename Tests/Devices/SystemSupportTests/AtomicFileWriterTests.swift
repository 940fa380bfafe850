import Glibc
import SystemSupport
import TestSupport
import Testing

@Suite struct AtomicFileWriterTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func text(_ name: String) -> String? {
    (try? FileSystem.read(folder(name))).map { String(decoding: $0, as: UTF8.self) }
  }

  /// The names of all files in the folder, including hidden files.
  private var names: [String] {
    var names: [String] = []
    guard let handle = unsafe opendir(folder.path) else { return [] }
    defer { unsafe closedir(handle) }
    while let entry = unsafe readdir(handle) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
        unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      if name != "." && name != ".." {
        names.append(name)
      }
    }
    return names.sorted()
  }

  @Test(arguments: [true, false]) func newFileReplacesNoFile(allowsUnnamed: Bool) throws {
    for existingText in [nil, "old"] {
      var file = try AtomicFileWriter(folder("a"), allowsUnnamed: allowsUnnamed)
      try file.write(Array("new".utf8))
      // Another process creates the file in the meantime.
      if let existingText {
        try folder.write(existingText, to: "a")
      }
      let isRefused = (try? file.commit(replaces: false)) == nil
      #expect(isRefused == (existingText != nil))
      #expect(text("a") == existingText ?? "new")
      _ = consume file
      #expect(names == ["a"])
      folder.remove("a")
    }
  }

  @Test(arguments: [true, false]) func fileGetsItsNameWhenItIsComplete(allowsUnnamed: Bool) throws {
    for existingText in [nil, "old"] {
      if let existingText {
        try folder.write(existingText, to: "a")
      }
      do {
        var file = try AtomicFileWriter(folder("a"), allowsUnnamed: allowsUnnamed)
        try file.write(Array("new".utf8))
        #expect(text("a") == existingText)
        #expect(names.count == (existingText == nil ? 0 : 1) + (allowsUnnamed ? 0 : 1))
        try file.commit()
      }
      #expect(text("a") == "new")
      #expect(names == ["a"])
    }
  }

  @Test(arguments: [true, false]) func uncommittedFileIsDiscarded(allowsUnnamed: Bool) throws {
    try folder.write("old", to: "a")
    do {
      let file = try AtomicFileWriter(folder("a"), allowsUnnamed: allowsUnnamed)
      try file.write(Array("new".utf8))
    }
    #expect(text("a") == "old")
    #expect(names == ["a"])
  }

  @Test func fileOfAnotherProgramIsReplacedAsAWhole() throws {
    var file = try AtomicFileWriter(folder("a"))
    try file.write(Array("new".utf8))
    try folder.write("other", to: "a")
    try file.commit()
    #expect(text("a") == "new")
    #expect(names == ["a"])
  }

  /// A writer of any process locks its temporary file; the lock ends with the process.
  @Test func filesOfKilledProcessesAreRemoved() throws {
    let names = [
      ".temblor-0123456789abcdef", ".temblor-00000000000000ff", ".temblor-fresh0000000000",
      ".temblor-1111111111111111",
      ".temblor-settings", "temblor-0123456789abcdef",
    ]
    for name in names {
      try folder.write("left", to: name)
      if name == ".temblor-1111111111111111" { continue }
      var times = [timespec(tv_sec: 1_000, tv_nsec: 0), timespec(tv_sec: 1_000, tv_nsec: 0)]
      try #require(unsafe utimensat(AT_FDCWD, folder(name), &times, 0) == 0)
    }
    let lockedDescriptor = try FileSystem.openForReading(folder(names[1]))
    defer { close(lockedDescriptor) }
    try #require(flock(lockedDescriptor, LOCK_EX | LOCK_NB) == 0)
    do {
      _ = try AtomicFileWriter(folder("a"), allowsUnnamed: false)
    }
    #expect(self.names == names.dropFirst().sorted())
  }

  @Test func readOnlyFileIsRefused() throws {
    try folder.write("old", to: "a")
    try #require(unsafe chmod(folder("a"), 0o444) == 0)
    #expect(
      throws: FileError(
        folder("a"), "is read-only; make it writable with 'chmod u+w', or choose another file")
    ) {
      try AtomicFileWriter.write([], to: folder("a"))
    }
    #expect(text("a") == "old")
  }

  @Test func linksAreFollowedEvenToAbsentFiles() throws {
    try folder.makeFolder("f")
    try folder.link("one", to: "two")
    try folder.link("two", to: folder("f/three"))
    for text in ["new", "newer"] {
      try AtomicFileWriter.write(Array(text.utf8), to: folder("one"))
      #expect(self.text("f/three") == text)
      #expect(
        FileSystem.isSymbolicLink(folder("one")) && FileSystem.isSymbolicLink(folder("two")))
    }
    try folder.link("ring", to: "ring")
    #expect(
      throws: FileError(
        folder("ring"), "is a link that cannot be resolved: Too many levels of symbolic links")
    ) {
      try AtomicFileWriter.write([], to: folder("ring"))
    }
  }

  /// The target of such a link is not a path.
  @Test func linkToAnOpenPipeIsRefused() throws {
    var descriptors: [Int32] = [-1, -1]
    try #require(unsafe pipe(&descriptors) == 0)
    defer {
      close(descriptors[0])
      close(descriptors[1])
    }
    let path = "/proc/self/fd/\(descriptors[1])"
    #expect(throws: FileError(path, "is a device or a pipe; specify a file")) {
      try AtomicFileWriter.write([], to: path)
    }
  }

  @Test func existingFileKeepsPermissionsAndNewFileHasDefaults() throws {
    func mode(_ name: String) -> mode_t {
      var status = stat()
      return unsafe stat(folder(name), &status) == 0 ? status.st_mode & 0o777 : 0
    }
    try folder.write("old", to: "a")
    try #require(unsafe chmod(folder("a"), 0o640) == 0)
    // A call of umask would change the permissions of the files of other tests.
    let status = String(decoding: try FileSystem.read("/proc/self/status"), as: UTF8.self)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("Umask:") })
    let creationMask = try #require(mode_t(line.split(whereSeparator: \.isWhitespace)[1], radix: 8))
    for allowsUnnamed in [true, false] {
      for name in ["a", "new\(allowsUnnamed)"] {
        var file = try AtomicFileWriter(folder(name), allowsUnnamed: allowsUnnamed)
        try file.commit()
        #expect(mode(name) == (name == "a" ? 0o640 : 0o666 & ~creationMask))
      }
    }
  }
}

@Suite struct InputOverwriteCheckTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func inputIsRecognizedByAnyPath() throws {
    try folder.write("", to: "a")
    try folder.write("", to: "other")
    try folder.makeFolder("f")
    try folder.link("soft", to: "a")
    try #require(unsafe Glibc.link(folder("a"), folder("hard")) == 0)
    let inputs = InputOverwriteCheck(reading: [folder("a"), folder("gone")])
    for name in ["a", "./a", "f/../a", "soft", "hard"] {
      #expect(inputs.isInputPath(folder(name)))
    }
    for name in ["other", "gone", "f", "A"] {
      #expect(!inputs.isInputPath(folder(name)))
    }
  }

  @Test func obstacleToCreatingAFileIsNamed() throws {
    try folder.write("", to: "a")
    let filePath = folder("a")
    let absentPath = folder("no")
    #expect(InputOverwriteCheck.obstacleText(toCreating: "a.wav") == nil)
    #expect(InputOverwriteCheck.obstacleText(toCreating: folder("a.wav")) == nil)
    #expect(InputOverwriteCheck.obstacleText(toCreating: absentPath + "/") == nil)
    #expect(
      InputOverwriteCheck.obstacleText(toCreating: absentPath + "/b/")
        == "the folder '\(absentPath)' does not exist")
    #expect(
      InputOverwriteCheck.obstacleText(toCreating: filePath + "/b")
        == "'\(filePath)' is not a folder")
  }
}
