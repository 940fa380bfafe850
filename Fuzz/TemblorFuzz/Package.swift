// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "TemblorFuzz",
  dependencies: [.package(name: "Temblor", path: "../..")],
  targets: [
    .systemLibrary(name: "CLibFuzzer"),
    .executableTarget(
      name: "temblor-fuzz",
      dependencies: [
        "CLibFuzzer",
        .product(name: "Temblor", package: "Temblor"),
        .product(name: "CommandLineKit", package: "Temblor"),
      ],
      swiftSettings: [
        .swiftLanguageMode(.v6),
        .strictMemorySafety(),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
      ]),
  ]
)
