import Foundation
import HapticRender
import Testing
import TransducerProfiles

/// A folder of its own, removed with the last reference.
private final class UserProfileFolder {
  let path: String

  init() throws {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "profiles-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    path = folder.path
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// Writes a profile whose band begins at a frequency.
  func write(_ folder: String, _ file: String, low: Int) throws {
    try write(
      folder, file,
      text: #"{"name": "\#(file.prefix { $0 != "." })", "summary": "S.", "#
        + #""frequency": {"low": \#(low), "high": 900}}"#)
  }

  func write(_ folder: String, _ file: String, text: String) throws {
    try FileManager.default.createDirectory(
      atPath: "\(path)/\(folder)", withIntermediateDirectories: true)
    try Data(text.utf8).write(to: URL(filePath: "\(path)/\(folder)/\(file)"))
  }

  var library: ProfileLibrary {
    ProfileLibrary(userFolder: "\(path)/mine", systemFolders: ["\(path)/first/", "\(path)/second"])
  }
}

@Suite struct ProfileLibraryTests {
  private func lowHertz(_ name: String, in library: ProfileLibrary) throws -> Double? {
    guard let entry = library.entry(named: name) else { return nil }
    return try ProfileFile.read(text: entry.readText(), name: entry.sourceName).frequency.lowHertz
  }

  @Test func theFirstFolderThatHasTheNameDecides() throws {
    let scratch = try UserProfileFolder()
    try scratch.write("second", "a.json", low: 4)
    #expect(try lowHertz("a", in: scratch.library) == 4)
    try scratch.write("first", "a.json", low: 3)
    #expect(try lowHertz("a", in: scratch.library) == 3)
    try scratch.write("mine", "a.json", low: 2)
    #expect(try lowHertz("a", in: scratch.library) == 2)
    #expect(scratch.library.entry(named: "a")?.origin == .user)
    #expect(scratch.library.entry(named: "a")?.sourceName == "\(scratch.path)/mine/a.json")
    #expect(try lowHertz("phone", in: scratch.library) == 80)
    try scratch.write("first", "phone.json", low: 7)
    #expect(try lowHertz("phone", in: scratch.library) == 7)
    #expect(scratch.library.entry(named: "b") == nil)
  }

  @Test func noNameLeadsOutOfTheFolders() throws {
    let scratch = try UserProfileFolder()
    try scratch.write("mine/deep", "a.json", low: 2)
    try scratch.write("", "b.json", low: 2)
    for name in ["deep/a", "../../b", "", ".", "A", String(repeating: "a", count: 41)] {
      #expect(scratch.library.entry(named: name) == nil)
    }
  }

  @Test func theListSaysWhatIsHidden() throws {
    let scratch = try UserProfileFolder()
    try scratch.write("mine", "zebra.json", low: 2)
    try scratch.write("mine", "phone.json", low: 2)
    try scratch.write("first", "zebra.json", low: 2)
    try scratch.write("second", "ape.json", text: "broken")
    try scratch.write("mine", "My Own.json", low: 2)
    try scratch.write("mine", "profile.schema.json", text: "{}")
    try scratch.write("mine", ".hidden.json", text: "{}")
    try scratch.write("mine", "notes.txt", text: "")
    let entries = scratch.library.allEntries()
    #expect(
      entries.prefix(4).map { "\($0.name) \($0.origin) \($0.shadowedOrigins.map(\.rawValue))" } == [
        #"phone user ["shipped"]"#, #"zebra user ["system"]"#, "ape system []",
        "speaker shipped []",
      ])
    #expect(entries.count == ProfileCatalog.names.count + 2)
    #expect(scratch.library.misnamedFiles() == ["\(scratch.path)/mine/My Own.json"])
  }

  @Test func whatIsNoFileIsToldAndNotWaitedFor() throws {
    let scratch = try UserProfileFolder()
    try scratch.write("mine/a.json", "x", text: "")
    #expect(unsafe mkfifo("\(scratch.path)/mine/b.json", 0o600) == 0)
    try scratch.write(
      "mine", "c.json", text: String(repeating: " ", count: ProfileFile.maximumByteCount + 1))
    func complaint(_ name: String) throws -> String? {
      let entry = try #require(scratch.library.entry(named: name))
      return #expect(throws: ProfileFileError.self) { try entry.readText() }?.description
    }
    #expect(try complaint("a") == "\(scratch.path)/mine/a.json: is not a regular file")
    #expect(try complaint("b") == "\(scratch.path)/mine/b.json: is not a regular file")
    #expect(try complaint("c") == "\(scratch.path)/mine/c.json: is too large; the limit is 1 MiB")
  }

  @Test(arguments: [
    ([:], nil, ["/etc/xdg/temblor/profiles"]),
    (["HOME": "/h"], "/h/.config/temblor/profiles", ["/etc/xdg/temblor/profiles"]),
    (
      ["HOME": "/h", "XDG_CONFIG_HOME": "", "XDG_CONFIG_DIRS": ""], "/h/.config/temblor/profiles",
      ["/etc/xdg/temblor/profiles"]
    ),
    (
      ["HOME": "/h", "XDG_CONFIG_HOME": "/c/", "XDG_CONFIG_DIRS": "/d:/e"], "/c/temblor/profiles",
      ["/d/temblor/profiles", "/e/temblor/profiles"]
    ),
    (
      ["HOME": "/h", "XDG_CONFIG_HOME": "c", "XDG_CONFIG_DIRS": "d:/e::./f"],
      "/h/.config/temblor/profiles",
      ["/e/temblor/profiles"]
    ), (["HOME": "h", "XDG_CONFIG_DIRS": "d"], nil, []),
  ]) func foldersFollowTheSpecification(
    environment: [String: String], user: String?, system: [String]
  ) {
    #expect(
      ProfileLibrary { environment[$0] } == ProfileLibrary(userFolder: user, systemFolders: system))
  }
}
