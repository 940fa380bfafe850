internal import CShippedFiles

/// A folder of files that are embedded in the program, so that they are available on any machine.
@safe package struct ShippedFiles: Sendable {
  /// The profile files, in the order in which they are listed.
  package static let profiles = unsafe ShippedFiles(temblor_profiles)
  /// The HTML, style sheets, and scripts of generated pages.
  package static let pageParts = unsafe ShippedFiles(temblor_page)
  fileprivate static let patterns = unsafe ShippedFiles(temblor_patterns)

  /// The names of the files, with their extensions.
  package let names: [String]
  /// The table of files in the program's read-only data.
  nonisolated(unsafe) private let fileTable: UnsafePointer<temblor_file>

  private init(_ table: UnsafePointer<temblor_file>) {
    var fileNames: [String] = []
    while let fileName = unsafe table[fileNames.count].name {
      unsafe fileNames.append(String(cString: fileName))
    }
    self.names = fileNames
    unsafe self.fileTable = table
  }

  /// Returns the contents of the file with the given name, or nil if there is none.
  package func bytes(named name: String) -> [UInt8]? {
    guard let fileIndex = names.firstIndex(of: name),
      let fileText = unsafe fileTable[fileIndex].text
    else {
      return nil
    }
    let byteCount = unsafe Int(fileTable[fileIndex].size)
    guard byteCount > 0 else { return unsafe Array(String(cString: fileText).utf8) }
    return unsafe fileText.withMemoryRebound(to: UInt8.self, capacity: byteCount) {
      unsafe Array(UnsafeBufferPointer(start: $0, count: byteCount))
    }
  }
}

/// The patterns that are part of Temblor.
public enum ShippedPatterns {
  /// The names of the shipped patterns, sorted.
  public static let names = ShippedFiles.patterns.names.map { String($0.dropLast(5)) }

  /// Returns the AHAP text of the shipped pattern with the given name, or nil if there is none.
  public static func text(named name: String) -> [UInt8]? {
    ShippedFiles.patterns.bytes(named: name + ".ahap")
  }
}
