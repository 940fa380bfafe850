/// The profiles that can be named: a user's own, the machine's, and those that come with Temblor.
///
/// The first folder that has the file `NAME.json` decides, so a file may stand for a shipped profile.
/// A folder that is not there, or that this process may not enter, is passed over.
public struct ProfileLibrary: Equatable, Sendable {
  /// The folder of the user's own profiles, where new ones go; nothing where none is known.
  public var userFolder: String?
  /// The folders of the machine, the most important first.
  public var systemFolders: [String]

  /// Makes a library of folders, which need not exist.
  public init(userFolder: String?, systemFolders: [String] = []) {
    self.userFolder = userFolder
    self.systemFolders = systemFolders
  }

  /// The profile with a name, or nothing; a miss costs one call to the system for each folder.
  public func entry(named name: String) -> ProfileEntry? {
    guard ProfileName.isValid(name) else { return nil }
    for (folder, origin) in folders {
      let path = Self.path(of: name, in: folder)
      if ProfileFolder.exists(path) {
        return ProfileEntry(name: name, origin: origin, path: path)
      }
    }
    guard ProfileCatalog.names.contains(name) else { return nil }
    return ProfileEntry(name: name, origin: .shipped)
  }

  /// Every profile there is, a user's own by name, then the machine's, then the shipped ones.
  ///
  /// No file is opened; each entry says which others of its name it hides.
  public func entries() -> [ProfileEntry] {
    var entries: [ProfileEntry] = []
    func add(_ entry: ProfileEntry) {
      if let index = entries.firstIndex(where: { $0.name == entry.name }) {
        entries[index].shadowed.append(entry.origin)
      } else {
        entries.append(entry)
      }
    }
    for (folder, origin) in folders {
      for stem in Self.stems(in: folder) where ProfileName.isValid(stem) {
        add(ProfileEntry(name: stem, origin: origin, path: Self.path(of: stem, in: folder)))
      }
    }
    for name in ProfileCatalog.names { add(ProfileEntry(name: name, origin: .shipped)) }
    return entries
  }

  /// The files in the folders whose names no profile can have, so that nothing finds them.
  public func misnamedFiles() -> [String] {
    folders.flatMap { folder, _ in
      Self.stems(in: folder).filter { !ProfileName.isValid($0) && !$0.hasSuffix(".schema") }
        .map { Self.path(of: $0, in: folder) }
    }
  }

  /// Where a user's own profile of a name is kept, or nothing where no folder is known.
  public func userPath(of name: String) -> String? {
    userFolder.map { Self.path(of: name, in: $0) }
  }

  private var folders: [(path: String, origin: ProfileEntry.Origin)] {
    (userFolder.map { [($0, .user)] } ?? []) + systemFolders.map { ($0, .system) }
  }

  /// The names of the files that end in `.json`, without that ending, sorted by their bytes.
  private static func stems(in folder: String) -> [String] {
    ProfileFolder.names(in: folder).filter { $0.hasSuffix(".json") && !$0.hasPrefix(".") }
      .map { String($0.dropLast(5)) }
  }

  private static func path(of name: String, in folder: String) -> String {
    folder + (folder.hasSuffix("/") ? "" : "/") + name + ".json"
  }
}
