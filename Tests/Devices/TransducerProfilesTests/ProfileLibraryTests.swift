import Glibc
import HapticRender
import TestSupport
import Testing
import TransducerProfiles

/// Folders of profiles in a temporary folder: one of the user and two of the system.
private struct ProfileFolders {
  private let parent: TemporaryFolder

  var path: String { parent.path }

  init() throws { parent = try TemporaryFolder() }

  /// Writes a profile whose lowest frequency identifies its file.
  func write(_ folder: String, _ file: String, low: Int) throws {
    try write(
      folder, file,
      text: #"{"name": "\#(file.prefix { $0 != "." })", "summary": "S.", "#
        + #""frequency": {"low": \#(low), "high": 900}}"#)
  }

  func write(_ folder: String, _ file: String, text: String) throws {
    try parent.write(text, to: "\(folder)/\(file)")
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
    let profileFolders = try ProfileFolders()
    try profileFolders.write("second", "a.json", low: 4)
    #expect(try lowHertz("a", in: profileFolders.library) == 4)
    try profileFolders.write("first", "a.json", low: 3)
    #expect(try lowHertz("a", in: profileFolders.library) == 3)
    try profileFolders.write("mine", "a.json", low: 2)
    #expect(try lowHertz("a", in: profileFolders.library) == 2)
    #expect(profileFolders.library.entry(named: "a")?.origin == .user)
    #expect(
      profileFolders.library.entry(named: "a")?.sourceName == "\(profileFolders.path)/mine/a.json")
    #expect(try lowHertz("phone", in: profileFolders.library) == 80)
    try profileFolders.write("first", "phone.json", low: 7)
    #expect(try lowHertz("phone", in: profileFolders.library) == 7)
    #expect(profileFolders.library.entry(named: "b") == nil)
  }

  @Test func namesCannotLeaveTheFolders() throws {
    let profileFolders = try ProfileFolders()
    try profileFolders.write("mine/deep", "a.json", low: 2)
    try profileFolders.write("", "b.json", low: 2)
    for name in ["deep/a", "../../b", "", ".", "A", String(repeating: "a", count: 41)] {
      #expect(profileFolders.library.entry(named: name) == nil)
    }
  }

  @Test func listContainsTheShadowedOrigins() throws {
    let profileFolders = try ProfileFolders()
    try profileFolders.write("mine", "zebra.json", low: 2)
    try profileFolders.write("mine", "phone.json", low: 2)
    try profileFolders.write("first", "zebra.json", low: 2)
    try profileFolders.write("second", "ape.json", text: "broken")
    try profileFolders.write("mine", "My Own.json", low: 2)
    try profileFolders.write("mine", "profile.schema.json", text: "{}")
    try profileFolders.write("mine", ".hidden.json", text: "{}")
    try profileFolders.write("mine", "notes.txt", text: "")
    let entries = profileFolders.library.allEntries()
    #expect(
      entries.prefix(4).map { "\($0.name) \($0.origin) \($0.shadowedOrigins.map(\.rawValue))" } == [
        #"phone user ["shipped"]"#, #"zebra user ["system"]"#, "ape system []",
        "speaker shipped []",
      ])
    #expect(entries.count == ProfileCatalog.names.count + 2)
    #expect(profileFolders.library.misnamedFiles() == ["\(profileFolders.path)/mine/My Own.json"])
  }

  @Test func irregularFilesAreRefusedWithoutWaiting() throws {
    let profileFolders = try ProfileFolders()
    try profileFolders.write("mine/a.json", "x", text: "")
    #expect(unsafe mkfifo("\(profileFolders.path)/mine/b.json", 0o600) == 0)
    try profileFolders.write(
      "mine", "c.json", text: String(repeating: " ", count: ProfileFile.maximumByteCount + 1))
    func errorText(_ name: String) throws -> String? {
      let entry = try #require(profileFolders.library.entry(named: name))
      return #expect(throws: ProfileFileError.self) { try entry.readText() }?.description
    }
    #expect(try errorText("a") == "\(profileFolders.path)/mine/a.json: is not a regular file")
    #expect(try errorText("b") == "\(profileFolders.path)/mine/b.json: is not a regular file")
    #expect(
      try errorText("c") == "\(profileFolders.path)/mine/c.json: is too large; the limit is 1 MiB")
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
