import Foundation
import HapticRender
import Testing
import TransducerProfiles

/// A temporary folder with profile folders, which is removed when the value is released.
private final class UserProfileFolder {
  let path: String

  init() throws {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "profiles-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    path = folder.path
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// Writes a profile whose lowest frequency identifies its file.
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

  @Test func firstFolderWithTheNameIsUsed() throws {
    let profileFolder = try UserProfileFolder()
    try profileFolder.write("second", "a.json", low: 4)
    #expect(try lowHertz("a", in: profileFolder.library) == 4)
    try profileFolder.write("first", "a.json", low: 3)
    #expect(try lowHertz("a", in: profileFolder.library) == 3)
    try profileFolder.write("mine", "a.json", low: 2)
    #expect(try lowHertz("a", in: profileFolder.library) == 2)
    #expect(profileFolder.library.entry(named: "a")?.origin == .user)
    #expect(
      profileFolder.library.entry(named: "a")?.sourceName == "\(profileFolder.path)/mine/a.json")
    #expect(try lowHertz("phone", in: profileFolder.library) == 80)
    try profileFolder.write("first", "phone.json", low: 7)
    #expect(try lowHertz("phone", in: profileFolder.library) == 7)
    #expect(profileFolder.library.entry(named: "b") == nil)
  }

  @Test func namesCannotLeaveTheFolders() throws {
    let profileFolder = try UserProfileFolder()
    try profileFolder.write("mine/deep", "a.json", low: 2)
    try profileFolder.write("", "b.json", low: 2)
    for name in ["deep/a", "../../b", "", ".", "A", String(repeating: "a", count: 41)] {
      #expect(profileFolder.library.entry(named: name) == nil)
    }
  }

  @Test func listContainsTheShadowedOrigins() throws {
    let profileFolder = try UserProfileFolder()
    try profileFolder.write("mine", "zebra.json", low: 2)
    try profileFolder.write("mine", "phone.json", low: 2)
    try profileFolder.write("first", "zebra.json", low: 2)
    try profileFolder.write("second", "ape.json", text: "broken")
    try profileFolder.write("mine", "My Own.json", low: 2)
    try profileFolder.write("mine", "profile.schema.json", text: "{}")
    try profileFolder.write("mine", ".hidden.json", text: "{}")
    try profileFolder.write("mine", "notes.txt", text: "")
    let entries = profileFolder.library.allEntries()
    #expect(
      entries.prefix(4).map { "\($0.name) \($0.origin) \($0.shadowedOrigins.map(\.rawValue))" } == [
        #"phone user ["shipped"]"#, #"zebra user ["system"]"#, "ape system []",
        "speaker shipped []",
      ])
    #expect(entries.count == ProfileCatalog.names.count + 2)
    #expect(profileFolder.library.misnamedFiles() == ["\(profileFolder.path)/mine/My Own.json"])
  }

  @Test func irregularFilesAreRefusedWithoutWaiting() throws {
    let profileFolder = try UserProfileFolder()
    try profileFolder.write("mine/a.json", "x", text: "")
    #expect(unsafe mkfifo("\(profileFolder.path)/mine/b.json", 0o600) == 0)
    try profileFolder.write(
      "mine", "c.json", text: String(repeating: " ", count: ProfileFile.maximumByteCount + 1))
    func errorText(_ name: String) throws -> String? {
      let entry = try #require(profileFolder.library.entry(named: name))
      return #expect(throws: ProfileFileError.self) { try entry.readText() }?.description
    }
    #expect(try errorText("a") == "\(profileFolder.path)/mine/a.json: is not a regular file")
    #expect(try errorText("b") == "\(profileFolder.path)/mine/b.json: is not a regular file")
    #expect(
      try errorText("c") == "\(profileFolder.path)/mine/c.json: is too large; the limit is 1 MiB")
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
  ]) func foldersFollowTheXDGSpecification(
    environment: [String: String], userFolder: String?, systemFolders: [String]
  ) {
    #expect(
      ProfileLibrary { environment[$0] }
        == ProfileLibrary(userFolder: userFolder, systemFolders: systemFolders))
  }
}
