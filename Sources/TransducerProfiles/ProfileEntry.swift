import ShippedProfiles

/// A profile that can be named, and where it comes from.
public struct ProfileEntry: Equatable, Sendable {
  /// Who put a profile there.
  public enum Origin: String, Sendable {
    /// The user, in a folder of their own.
    case user
    /// Whoever looks after the machine.
    case system
    /// It comes with Temblor.
    case shipped
  }

  /// What people type: the name of the file, whatever stands under `name` in it.
  public var name: String
  /// Who put it there.
  public var origin: Origin
  /// The file; nothing for a shipped profile.
  public var path: String?
  /// Where the profiles come from that cannot be named because of this one.
  public var shadowed: [Origin]

  /// Makes an entry.
  init(name: String, origin: Origin, path: String? = nil, shadowed: [Origin] = []) {
    self.name = name
    self.origin = origin
    self.path = path
    self.shadowed = shadowed
  }

  /// What errors call its text: the file's path, or the name.
  public var textName: String { path ?? name }

  /// The text, read anew at every call.
  public func text() throws(ProfileFileError) -> [UInt8] {
    if let path { return try ProfileFolder.read(path) }
    return ShippedProfiles.text(named: name) ?? []
  }
}
