<?php
// A tour with the clients that OpenAPI Generator makes for PHP. The argument is the name of the animal.

use PetstoreStore\Model;

require 'GuzzleHttp/autoload.php';
spl_autoload_register(function (string $class) {
    [$package, $path] = explode('\\', $class, 2);
    $folder = ['Petstore' => 'petstore', 'PetstoreStore' => 'petstore_store'][$package] ?? null;
    if ($folder !== null) {
        require __DIR__ . "/$folder/lib/" . strtr($path, '\\', '/') . '.php';
    }
});

$name = $argv[1];
$url = getenv('PETSTORE_URL');
$key = getenv('PETSTORE_KEY');
Petstore\Configuration::getDefaultConfiguration()->setHost($url)->setAccessToken($key);
// The client writes 0 and 1 otherwise.
PetstoreStore\Configuration::getDefaultConfiguration()->setHost($url)->setAccessToken($key)
    ->setBooleanFormatForQueryString(PetstoreStore\Configuration::BOOLEAN_FORMAT_STRING);
$pets = new Petstore\Api\PetsApi();
$animals = new PetstoreStore\Api\AnimalsApi();
$orders = new PetstoreStore\Api\OrdersApi();

function print_error(string $what, callable $call): void
{
    try {
        $call();
    } catch (PetstoreStore\ApiException $error) {
        echo "$what: {$error->getCode()} ", json_decode($error->getResponseBody())->code, "\n";
    }
}

function check(bool $condition): void
{
    $condition || throw new Exception('not as expected');
}

$pet = $pets->createPet(new Petstore\Model\NewPet(['name' => $name, 'category_id' => 1]));
echo "added an animal to the catalogue: it is {$pet->getStatus()}\n";
echo 'found it by its name: ', count($animals->listStorePets(name: $name)), " animal\n";
$microchip = sprintf('276098%09d', random_int(0, 999_999_999));
$fields = ['species' => 'Cat', 'breed' => 'Siamese', 'microchip' => $microchip];
$cat = $animals->addStorePet(new Model\StorePetInput(['name' => $name, 'category_id' => 1, 'fields' => $fields]));
echo "added an animal with values: it is a {$cat->getFields()['species']}\n";
$found = $animals->listStorePets(field: ['field.microchip' => $microchip]);
check($found == [$cat]);
echo 'found it by its microchip: ', count($found), " animal\n";
(new PetstoreStore\Api\PhotosApi())->addPhoto($cat->getId(), file_get_contents('photo.webp'));
echo 'added a photo of it: ', count($animals->getStorePet($cat->getId())->getPhotos()), " photo\n";

$order = new Model\OrderInput(['pet_id' => $pet->getId(), 'reference' => 'R-1']);
$id = $orders->placeOrder("$name-1", $order)->getId();
check($orders->placeOrder("$name-1", $order)->getId() === $id);
$placed = $orders->getOrder($id);
$days = $placed->getCreatedAt()->diff($placed->getExpiresAt())->days;
echo "reserved it: the order is {$placed->getStatus()}, for $days days\n";
print_error('reserving it again', fn () => $orders->placeOrder("$name-2", $order));
$completed = $orders->completeOrder($id);
check($placed->getClosedAt() === null && $completed->getClosedAt() >= $completed->getCreatedAt());
echo "completed the order: it is {$completed->getStatus()}, and has the time of its end\n";

$before = $animals->getStorePet($pet->getId())->getVersion();
$change = fn () => $animals->patchPet("\"$before\"", $pet->getId(), new Model\PetPatch(['name' => "$name II"]));
echo "changed the name: from version $before to {$change()->getVersion()}\n";
print_error('changing it with the old version', $change);

$changes = new PetstoreStore\Api\ChangesApi();
foreach ($changes->followChanges(after: 'start', limit: 1000) as $change) {
    $subject = "{$change->getSubject()->getKind()}:{$change->getSubject()->getId()}";
    if ($subject === "pet:{$pet->getId()}" || $subject === "order:$id") {
        echo "change: {$change->getType()}, {$change->getAfter()->status}\n";
    }
}
$entries = (new PetstoreStore\Api\AuditApi())->listAudit("pet:{$pet->getId()}");
echo 'audit trail: ', count($entries), " entries about the animal, by the key {$entries[count($entries) - 1]->getActor()->getName()}\n";

[$added, $returned] = (new PetstoreStore\Api\BatchApi())->runBatch("$name-3", [
    new Model\AddPetCommand(['command' => 'addPet', 'name' => "$name III", 'category_id' => 1]),
    new Model\ReturnOrderCommand(['command' => 'returnOrder', 'order_id' => $id]),
]);
echo "batch: added an animal that is $added->status, and the order is $returned->status\n";
