@main struct Temblor { static func main() {} }
