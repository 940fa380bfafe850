internal import Glibc

extension ProfileLibrary {
  /// The library of this process's environment.
  public static func fromEnvironment() -> ProfileLibrary {
    ProfileLibrary { name in
      guard let value = unsafe getenv(name) else { return nil }
      return unsafe String(cString: value)
    }
  }

  /// The library of an environment: `temblor/profiles` below `XDG_CONFIG_HOME` and `XDG_CONFIG_DIRS`.
  ///
  /// Where these are unset or empty they are `$HOME/.config` and `/etc/xdg`; paths that are not
  /// absolute are ignored. Source: XDG Base Directory Specification 0.8.
  public init(environment value: (String) -> String?) {
    func absolute(_ name: String) -> String? {
      value(name).flatMap { $0.hasPrefix("/") ? $0 : nil }
    }
    let home = absolute("XDG_CONFIG_HOME") ?? absolute("HOME").map { Self.below($0, ".config") }
    let list = value("XDG_CONFIG_DIRS") ?? ""
    let system = (list.isEmpty ? "/etc/xdg" : list).split(separator: ":").filter { $0.first == "/" }
    self.init(
      userFolder: home.map { Self.below($0, "temblor/profiles") },
      systemFolders: system.map { Self.below(String($0), "temblor/profiles") })
  }

  private static func below(_ folder: String, _ name: String) -> String {
    folder + (folder.hasSuffix("/") ? "" : "/") + name
  }
}
